"""A small number keeps the logarithm finite and makes it wrong."""

# misconception: None
# fails first: stability
# fails: stability

import numpy as np


def token_log_probabilities(model, prompt, continuation, temperature=1.0):
    if len(continuation) == 0:
        return np.empty(0)
    sequence = [*prompt, *continuation]
    rows = model.logits(sequence)[len(prompt) - 1 : -1]
    scores = (rows - rows.max(axis=-1, keepdims=True)) / temperature
    shares = np.exp(scores)
    log_shares = np.log(shares / shares.sum(axis=-1, keepdims=True) + 1e-300)
    return log_shares[np.arange(len(continuation)), continuation]


def sequence_log_probability(model, prompt, continuation, temperature=1.0):
    return float(np.sum(token_log_probabilities(model, prompt, continuation, temperature)))
