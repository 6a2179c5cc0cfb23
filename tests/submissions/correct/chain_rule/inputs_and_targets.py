"""Inputs and targets as in training, and a mask over the prompt's targets."""

import numpy as np


def token_log_probabilities(model, prompt, continuation, temperature=1.0):
    if len(continuation) == 0:
        return np.empty(0)
    ids = np.array([*prompt, *continuation])
    inputs, targets = ids[:-1], ids[1:]
    z = model.logits(inputs) / temperature
    z = z - z.max(-1, keepdims=True)
    logp = z - np.log(np.exp(z).sum(-1, keepdims=True))
    scored = logp[np.arange(len(targets)), targets]
    of_continuation = np.arange(len(targets)) >= len(prompt) - 1
    return scored[of_continuation]


def sequence_log_probability(model, prompt, continuation, temperature=1.0):
    return float(
        np.cumsum(np.append(0.0, token_log_probabilities(model, prompt, continuation, temperature)))[-1]
    )
