"""A forward pass a token: right, and several passes."""

# misconception: None
# fails first: single_pass
# fails: single_pass

import numpy as np


def token_log_probabilities(model, prompt, continuation, temperature=1.0):
    prefix = list(prompt)
    result = []
    for token in continuation:
        scores = model.logits(prefix)[-1] / temperature
        scores = scores - scores.max()
        result.append(scores[token] - np.log(np.exp(scores).sum()))
        prefix.append(token)
    return np.array(result)


def sequence_log_probability(model, prompt, continuation, temperature=1.0):
    return float(np.sum(token_log_probabilities(model, prompt, continuation, temperature)))
