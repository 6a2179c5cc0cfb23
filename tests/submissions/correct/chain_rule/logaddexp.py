"""The normaliser by np.logaddexp.reduce."""

import numpy as np


def token_log_probabilities(model, prompt, continuation, temperature=1.0):
    if not len(continuation):
        return np.empty(0)
    logits = model.logits([*prompt, *continuation]) / temperature
    logp = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
    start = len(prompt) - 1
    return np.array([logp[start + i, t] for i, t in enumerate(continuation)])


def sequence_log_probability(model, prompt, continuation, temperature=1.0):
    return sum(token_log_probabilities(model, prompt, continuation, temperature))
