"""Prints and a warning left in from debugging."""

import warnings

import numpy as np


def token_log_probabilities(model, prompt, continuation, temperature=1.0):
    print("scoring", continuation, "after", prompt)
    warnings.warn("still debugging", stacklevel=2)
    if len(continuation) == 0:
        return np.zeros(0)
    whole = list(prompt)
    whole.extend(continuation)
    logits = model.logits(whole)
    print(logits.shape)
    result = np.zeros(len(continuation))
    for i in range(len(continuation)):
        scaled = logits[len(prompt) + i - 1] / temperature
        biggest = np.max(scaled)
        result[i] = scaled[continuation[i]] - biggest - np.log(np.sum(np.exp(scaled - biggest)))
        print(i, result[i])
    return result


def sequence_log_probability(model, prompt, continuation, temperature=1.0):
    result = np.sum(token_log_probabilities(model, prompt, continuation, temperature))
    print("total", result)
    return result
