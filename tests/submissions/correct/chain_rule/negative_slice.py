"""Rows counted from the end, with a guard for nothing to count."""

import numpy as np


def log_sum_exp(a, axis):
    top = a.max(axis=axis, keepdims=True)
    return top + np.log(np.exp(a - top).sum(axis=axis, keepdims=True))


def token_log_probabilities(model, prompt, continuation, temperature=1.0):
    n = len(continuation)
    if n == 0:
        return np.array([], dtype=np.float64)
    every = model.logits(np.r_[prompt, continuation])
    mine = every[-n - 1 : -1] / temperature
    normal = mine - log_sum_exp(mine, axis=1)
    return normal[range(n), list(continuation)]


def sequence_log_probability(model, prompt, continuation, temperature=1.0):
    values = token_log_probabilities(model, prompt, continuation, temperature)
    return values.sum().item()
