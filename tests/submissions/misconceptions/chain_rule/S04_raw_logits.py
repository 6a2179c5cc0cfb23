"""Raw logits are added up."""

# misconception: S4
# fails first: rows
# fails: rows, temperature, stability

import numpy as np


def token_log_probabilities(model, prompt, continuation, temperature=1.0):
    if len(continuation) == 0:
        return np.empty(0)
    sequence = [*prompt, *continuation]
    rows = model.logits(sequence)[len(prompt) - 1 : -1]
    return (rows / temperature)[np.arange(len(continuation)), continuation]


def sequence_log_probability(model, prompt, continuation, temperature=1.0):
    return float(np.sum(token_log_probabilities(model, prompt, continuation, temperature)))
