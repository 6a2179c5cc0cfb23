"""Takes the largest logit of all rows off each of them."""

# misconception: S8
# fails first: stability
# fails: stability

import numpy as np


def token_log_probabilities(model, prompt, continuation, temperature=1.0):
    if len(continuation) == 0:
        return np.empty(0)
    sequence = [*prompt, *continuation]
    rows = model.logits(sequence)[len(prompt) - 1 : -1]
    scores = (rows - rows.max()) / temperature
    log_shares = scores - np.log(np.exp(scores).sum(axis=-1, keepdims=True))
    return log_shares[np.arange(len(continuation)), continuation]


def sequence_log_probability(model, prompt, continuation, temperature=1.0):
    return float(np.sum(token_log_probabilities(model, prompt, continuation, temperature)))
