"""Logarithms of base 10, in both functions."""

# misconception: S7
# fails first: sum
# fails: sum

import numpy as np


def log_softmax(x):
    m = np.max(x)
    return x - m - np.log(np.sum(np.exp(x - m)))


def token_log_probabilities(model, prompt, continuation, temperature=1.0):
    tokens = list(prompt) + list(continuation)
    if len(continuation) == 0:
        return np.array([])
    logits = model.logits(tokens)
    result = []
    for t in range(len(continuation)):
        row = logits[len(prompt) - 1 + t] / temperature
        result.append(log_softmax(row)[continuation[t]])
    return np.array(result) / np.log(10)


def sequence_log_probability(model, prompt, continuation, temperature=1.0):
    total = 0.0
    for value in token_log_probabilities(model, prompt, continuation, temperature):
        total += value
    return total
