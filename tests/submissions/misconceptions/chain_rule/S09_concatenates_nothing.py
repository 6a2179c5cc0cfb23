"""The entries are concatenated; with none of them there is nothing to join."""

# misconception: S9
# fails first: empty
# fails: empty

import numpy as np


def token_log_probabilities(model, prompt, continuation, temperature=1.0):
    logits = model.logits([*prompt, *continuation])
    parts = []
    for t, token in enumerate(continuation):
        row = logits[len(prompt) - 1 + t] / temperature
        row = row - row.max()
        parts.append(row[[token]] - np.log(np.exp(row).sum()))
    return np.concatenate(parts)


def sequence_log_probability(model, prompt, continuation, temperature=1.0):
    return float(np.sum(token_log_probabilities(model, prompt, continuation, temperature)))
