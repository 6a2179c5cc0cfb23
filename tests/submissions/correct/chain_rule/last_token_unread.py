"""The last token is left out of the pass; the targets are gathered with take_along_axis."""

import numpy as np


def token_log_probabilities(model, prompt, continuation, temperature=1.0):
    continuation = np.asarray(continuation, dtype=int)
    if continuation.size == 0:
        return np.zeros((0,), dtype=np.float64)
    read = np.concatenate((np.asarray(prompt, dtype=int), continuation[:-1]))
    z = model.logits(read)[len(prompt) - 1 :] / temperature
    z -= z.max(axis=1, keepdims=True)
    lse = np.log(np.exp(z).sum(axis=1, keepdims=True))
    return np.take_along_axis(z - lse, continuation[:, None], axis=1)[:, 0]


def sequence_log_probability(model, prompt, continuation, temperature=1.0):
    return token_log_probabilities(model, prompt, continuation, temperature).sum()
