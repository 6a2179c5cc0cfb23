"""The second function does not use the first."""

import numpy as np


def token_log_probabilities(model, prompt, continuation, temperature=1.0):
    if len(continuation) == 0:
        return np.empty(0)
    ids = [*prompt, *continuation]
    rows = model.logits(ids[:-1])[len(prompt) - 1 :]
    rows = (rows - rows.max(axis=-1)[:, None]) / temperature
    return rows[np.arange(len(rows)), ids[len(prompt) :]] - np.log(np.exp(rows).sum(axis=-1))


def sequence_log_probability(model, prompt, continuation, temperature=1.0):
    total = 0.0
    if len(continuation) > 0:
        rows = model.logits([*prompt, *continuation])
        for t, token in enumerate(continuation, start=len(prompt)):
            row = rows[t - 1] / temperature
            top = row.max()
            total += row[token] - top - np.log(np.exp(row - top).sum())
    return float(total)
