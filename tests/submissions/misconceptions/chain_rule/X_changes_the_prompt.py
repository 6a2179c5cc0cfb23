"""The caller's prompt is extended."""

# misconception: G5
# fails first: single_pass
# fails: single_pass

import numpy as np


def log_softmax(x):
    m = np.max(x)
    return x - m - np.log(np.sum(np.exp(x - m)))


def token_log_probabilities(model, prompt, continuation, temperature=1.0):
    n = len(prompt)
    if len(continuation) == 0:
        return np.array([])
    if isinstance(prompt, np.ndarray):
        prompt = prompt.tolist()
    prompt += list(continuation)
    tokens = prompt
    logits = model.logits(tokens)
    result = []
    for t in range(len(continuation)):
        row = logits[n - 1 + t] / temperature
        result.append(log_softmax(row)[continuation[t]])
    return np.array(result)


def sequence_log_probability(model, prompt, continuation, temperature=1.0):
    total = 0.0
    for value in token_log_probabilities(model, prompt, continuation, temperature):
        total += value
    return total
