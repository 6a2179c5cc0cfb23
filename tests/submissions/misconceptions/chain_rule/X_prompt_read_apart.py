"""The prompt has a pass of its own."""

# misconception: None
# fails first: single_pass
# fails: single_pass

import numpy as np


def log_softmax(x):
    m = np.max(x)
    return x - m - np.log(np.sum(np.exp(x - m)))


def token_log_probabilities(model, prompt, continuation, temperature=1.0):
    tokens = list(prompt) + list(continuation)
    if len(continuation) == 0:
        return np.array([])
    first = model.logits(list(prompt))
    logits = np.concatenate([first, model.logits(tokens)[len(prompt) :]])
    result = []
    for t in range(len(continuation)):
        row = logits[len(prompt) - 1 + t] / temperature
        result.append(log_softmax(row)[continuation[t]])
    return np.array(result)


def sequence_log_probability(model, prompt, continuation, temperature=1.0):
    total = 0.0
    for value in token_log_probabilities(model, prompt, continuation, temperature):
        total += value
    return total
