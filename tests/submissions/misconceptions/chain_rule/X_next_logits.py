"""All prefixes in one call of next_logits."""

# misconception: None
# fails first: single_pass
# fails: single_pass

import numpy as np


def token_log_probabilities(model, prompt, continuation, temperature=1.0):
    n = len(continuation)
    if n == 0:
        return np.empty(0)
    prefixes = [[*prompt, *continuation[:t]] for t in range(n)]
    z = model.next_logits(prefixes) / temperature
    m = z.max(axis=1, keepdims=True)
    logp = z - m - np.log(np.exp(z - m).sum(axis=1, keepdims=True))
    return logp[range(n), continuation]


def sequence_log_probability(model, prompt, continuation, temperature=1.0):
    return float(np.sum(token_log_probabilities(model, prompt, continuation, temperature)))
