"""Entries in a tuple of NumPy scalars, the sum a NumPy scalar."""

import numpy as np


def token_log_probabilities(model, prompt, continuation, temperature=1.0):
    if len(continuation) == 0:
        return ()
    n = len(prompt)
    full = tuple(prompt) + tuple(continuation)
    out = model.logits(full)
    logs = ()
    for i in range(n, len(full)):
        s = out[i - 1] / temperature
        s = s - np.max(s)
        logs = (*logs, s[full[i]] - np.log(np.sum(np.exp(s))))
    return logs


def sequence_log_probability(model, prompt, continuation, temperature=1.0):
    return np.sum(np.array(token_log_probabilities(model, prompt, continuation, temperature), dtype=float))
