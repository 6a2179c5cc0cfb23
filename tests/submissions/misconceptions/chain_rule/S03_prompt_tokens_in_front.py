"""One entry a token of the whole sequence, 0 for the first."""

# misconception: S3
# fails first: rows
# fails: rows, only_continuation

import numpy as np


def token_log_probabilities(model, prompt, continuation, temperature=1.0):
    if len(continuation) == 0:
        return np.zeros(0)
    tokens = list(prompt) + list(continuation)
    logits = model.logits(tokens)
    result = np.zeros(len(tokens))
    for i in range(1, len(tokens)):
        row = logits[i - 1] / temperature
        row = row - np.max(row)
        result[i] = row[tokens[i]] - np.log(np.sum(np.exp(row)))
    return result


def sequence_log_probability(model, prompt, continuation, temperature=1.0):
    return float(np.sum(token_log_probabilities(model, prompt, continuation, temperature)))
