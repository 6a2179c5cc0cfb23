"""Rows and tokens are walked through together, position by position."""

# misconception: S1
# fails first: rows
# fails: rows

import numpy as np


def token_log_probabilities(model, prompt, continuation, temperature=1.0):
    if len(continuation) == 0:
        return np.zeros(0)
    ids = [int(i) for i in prompt] + [int(i) for i in continuation]
    z = model.logits(ids) / temperature
    z = z - z.max(axis=1, keepdims=True)
    z = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
    scores = [row[token] for row, token in zip(z, ids)]
    return np.array(scores[len(prompt) :])


def sequence_log_probability(model, prompt, continuation, temperature=1.0):
    return float(np.sum(token_log_probabilities(model, prompt, continuation, temperature)))
