"""The loop's result is returned inside the loop's condition only."""

# misconception: S9
# fails first: empty
# fails: empty

import numpy as np


def token_log_probabilities(model, prompt, continuation, temperature=1.0):
    tokens = list(prompt) + list(continuation)
    if len(continuation) > 0:
        z = model.logits(tokens)[len(prompt) - 1 : -1] / temperature
        z = z - z.max(axis=-1, keepdims=True)
        z = z - np.log(np.exp(z).sum(axis=-1, keepdims=True))
        return z[np.arange(len(z)), tokens[len(prompt) :]]


def sequence_log_probability(model, prompt, continuation, temperature=1.0):
    if len(continuation) == 0:
        return 0.0
    return float(token_log_probabilities(model, prompt, continuation, temperature).sum())
