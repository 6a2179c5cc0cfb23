"""The tokens are right; the sequence's value is computed anew, prompt and all."""

# misconception: S3
# fails first: only_continuation
# fails: only_continuation

import numpy as np


def token_log_probabilities(model, prompt, continuation, temperature=1.0):
    if len(continuation) == 0:
        return np.empty(0)
    sequence = [*prompt, *continuation]
    rows = model.logits(sequence)[len(prompt) - 1 : -1]
    scores = (rows - rows.max(axis=-1, keepdims=True)) / temperature
    log_shares = scores - np.log(np.exp(scores).sum(axis=-1, keepdims=True))
    return log_shares[np.arange(len(continuation)), continuation]


def sequence_log_probability(model, prompt, continuation, temperature=1.0):
    if len(continuation) == 0:
        return 0.0
    ids = [*prompt, *continuation]
    z = model.logits(ids)[:-1] / temperature
    z = z - z.max(axis=-1, keepdims=True)
    logp = z - np.log(np.exp(z).sum(axis=-1, keepdims=True))
    return float(logp[np.arange(len(ids) - 1), ids[1:]].sum())
