"""The last token is left out of the pass, even where it is the prompt's."""

# misconception: S9
# fails first: empty
# fails: empty

import numpy as np


def token_log_probabilities(model, prompt, continuation, temperature=1.0):
    ids = [*prompt, *continuation]
    z = model.logits(ids[:-1])[len(prompt) - 1 :] / temperature
    z = z - z.max(axis=-1, keepdims=True)
    z = z - np.log(np.exp(z).sum(axis=-1, keepdims=True))
    return np.array([z[t, token] for t, token in enumerate(continuation)])


def sequence_log_probability(model, prompt, continuation, temperature=1.0):
    return float(np.sum(token_log_probabilities(model, prompt, continuation, temperature)))
