"""Inputs and targets are split as in training; the window begins one too late."""

# misconception: S2
# fails first: rows
# fails: rows

import numpy as np


def token_log_probabilities(model, prompt, continuation, temperature=1.0):
    if len(continuation) == 0:
        return np.empty(0)
    ids = np.concatenate([prompt, continuation]).astype(int)
    inputs, targets = ids[:-1], ids[1:]
    z = model.logits(inputs) / temperature
    z = z - z.max(-1, keepdims=True)
    logp = z - np.log(np.exp(z).sum(-1, keepdims=True))
    scored = logp[np.arange(len(targets)), targets]
    return scored[len(prompt) :]


def sequence_log_probability(model, prompt, continuation, temperature=1.0):
    return float(np.sum(token_log_probabilities(model, prompt, continuation, temperature)))
