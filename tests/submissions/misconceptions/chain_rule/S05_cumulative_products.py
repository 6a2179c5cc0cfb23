"""Entries as differences of the logarithms of running products."""

# misconception: S5
# fails first: stability
# fails: stability

import numpy as np


def token_log_probabilities(model, prompt, continuation, temperature=1.0):
    if len(continuation) == 0:
        return np.empty(0)
    rows = model.logits([*prompt, *continuation])[len(prompt) - 1 : -1] / temperature
    shares = np.exp(rows - rows.max(axis=-1, keepdims=True))
    shares /= shares.sum(axis=-1, keepdims=True)
    products = np.cumprod(shares[np.arange(len(continuation)), continuation])
    return np.diff(np.log(products), prepend=0.0)


def sequence_log_probability(model, prompt, continuation, temperature=1.0):
    return float(np.sum(token_log_probabilities(model, prompt, continuation, temperature)))
