"""The finished logarithm is divided by the temperature."""

# misconception: S6
# fails first: temperature
# fails: temperature

import numpy as np


def token_log_probabilities(model, prompt, continuation, temperature=1.0):
    if len(continuation) == 0:
        return np.empty(0)
    sequence = [*prompt, *continuation]
    rows = model.logits(sequence)[len(prompt) - 1 : -1]
    scores = rows - rows.max(axis=-1, keepdims=True)
    log_shares = scores - np.log(np.exp(scores).sum(axis=-1, keepdims=True))
    return log_shares[np.arange(len(continuation)), continuation] / temperature


def sequence_log_probability(model, prompt, continuation, temperature=1.0):
    return float(np.sum(token_log_probabilities(model, prompt, continuation, temperature)))
