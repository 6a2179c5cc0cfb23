"""A pass a token, and the token is in it already."""

# misconception: S1
# fails first: rows
# fails: rows, single_pass

import numpy as np


def token_log_probabilities(model, prompt, continuation, temperature=1.0):
    prefix = list(prompt)
    out = []
    for token in continuation:
        prefix.append(token)
        z = model.logits(prefix)[-1] / temperature
        z = z - z.max()
        out.append(z[token] - np.log(np.exp(z).sum()))
    return np.array(out)


def sequence_log_probability(model, prompt, continuation, temperature=1.0):
    return float(np.sum(token_log_probabilities(model, prompt, continuation, temperature)))
