"""Every token after the first is scored, those of the prompt among them."""

# misconception: S3
# fails first: rows
# fails: rows, only_continuation

import numpy as np


def token_log_probabilities(model, prompt, continuation, temperature=1.0):
    ids = [*prompt, *continuation]
    if len(ids) < 2:
        return np.empty(0)
    z = model.logits(ids)[:-1] / temperature
    z = z - z.max(axis=-1, keepdims=True)
    logp = z - np.log(np.exp(z).sum(axis=-1, keepdims=True))
    return logp[np.arange(len(ids) - 1), ids[1:]]


def sequence_log_probability(model, prompt, continuation, temperature=1.0):
    return float(np.sum(token_log_probabilities(model, prompt, continuation, temperature)))
