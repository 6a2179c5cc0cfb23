"""Rows of all tokens' logarithms: shape (n, V)."""

# misconception: None
# fails first: rows
# fails: rows, only_continuation, temperature, stability, empty, single_pass

import numpy as np


def token_log_probabilities(model, prompt, continuation, temperature=1.0):
    if len(continuation) == 0:
        return np.empty(0)
    sequence = [*prompt, *continuation]
    rows = model.logits(sequence)[len(prompt) - 1 : -1]
    scores = (rows - rows.max(axis=-1, keepdims=True)) / temperature
    log_shares = scores - np.log(np.exp(scores).sum(axis=-1, keepdims=True))
    return log_shares


def sequence_log_probability(model, prompt, continuation, temperature=1.0):
    return float(
        token_log_probabilities(model, prompt, continuation, temperature)[
            np.arange(len(continuation)), list(continuation)
        ].sum()
    )
