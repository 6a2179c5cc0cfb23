"""The first function was never written."""

# misconception: None
# fails first: rows
# fails: rows, only_continuation, temperature, stability, empty, single_pass

import numpy as np


def sequence_log_probability(model, prompt, continuation, temperature=1.0):
    ids = [*prompt, *continuation]
    z = model.logits(ids)[len(prompt) - 1 : -1] / temperature
    total = 0.0
    for row, token in zip(z, continuation):
        total += row[token] - row.max() - np.log(np.exp(row - row.max()).sum())
    return total
