"""Everything in float32."""

# misconception: None
# fails first: rows
# fails: rows, sum, temperature, stability

import numpy as np


def token_log_probabilities(model, prompt, continuation, temperature=1.0):
    if len(continuation) == 0:
        return np.empty(0)
    sequence = [*prompt, *continuation]
    rows = model.logits(sequence).astype(np.float32)[len(prompt) - 1 : -1]
    scores = (rows - rows.max(axis=-1, keepdims=True)) / temperature
    log_shares = scores - np.log(np.exp(scores).sum(axis=-1, keepdims=True))
    return log_shares[np.arange(len(continuation)), continuation]


def sequence_log_probability(model, prompt, continuation, temperature=1.0):
    return float(np.sum(token_log_probabilities(model, prompt, continuation, temperature)))
