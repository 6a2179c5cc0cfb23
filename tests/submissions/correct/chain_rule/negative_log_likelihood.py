"""Thinks in losses, and turns the sign at the end."""

import numpy as np


def cross_entropy(scores, target):
    top = scores.max()
    return top + np.log(np.exp(scores - top).sum()) - scores[target]


def token_log_probabilities(model, prompt, continuation, temperature=1.0):
    if len(continuation) == 0:
        return np.array([])
    logits = model.logits([*prompt, *continuation])[len(prompt) - 1 :]
    losses = [cross_entropy(row / temperature, token) for row, token in zip(logits, continuation)]
    return -np.array(losses)


def sequence_log_probability(model, prompt, continuation, temperature=1.0):
    if len(continuation) == 0:
        return 0
    losses = -token_log_probabilities(model, prompt, continuation, temperature)
    return -losses.sum()
