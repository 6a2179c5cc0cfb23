"""One pass, then the halves of the continuation recursively."""

import numpy as np


def token_log_probabilities(model, prompt, continuation, temperature=1.0):
    if len(continuation) == 0:
        return np.empty(0)
    rows = model.logits([*prompt, *continuation])[len(prompt) - 1 :]

    def score(first, last):
        if last - first == 1:
            z = rows[first] / temperature
            z = z - z.max()
            return [z[continuation[first]] - np.log(np.exp(z).sum())]
        middle = (first + last) // 2
        return score(first, middle) + score(middle, last)

    return np.asarray(score(0, len(continuation)))


def sequence_log_probability(model, prompt, continuation, temperature=1.0):
    return float(token_log_probabilities(model, prompt, continuation, temperature).sum())
