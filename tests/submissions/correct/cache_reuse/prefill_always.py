"""Reads the prompt before it asks whether there is anything to make; tril_indices for the mask."""

import numpy as np


def cached_attention(queries, keys, values):
    n, T = len(queries), len(keys)
    masked = np.full((n, T), -np.inf)
    rows, columns = np.tril_indices(n, k=T - n, m=T)
    scores = queries @ keys.T / np.sqrt(np.float64(queries.shape[1]))
    masked[rows, columns] = scores[rows, columns]
    weights = np.exp(masked - np.nanmax(masked, axis=1, keepdims=True))
    return (weights / weights.sum(axis=1, keepdims=True)) @ values


def generate_with_cache(model, prompt, max_new_tokens, end_id=None, cache=None):
    if cache is None:
        cache = model.new_cache()
    common = 0
    for a, b in zip(cache.token_ids, prompt):
        if a == b:
            common += 1
        else:
            break
    common = min(common, len(prompt) - 1)
    cache.crop(common)
    row = model.logits(prompt[common:], cache=cache)[-1]
    new = []
    while len(new) < max_new_tokens and len(prompt) + len(new) < model.context_length:
        if new:
            row = model.logits([new[-1]], cache=cache)[-1]
        new.append(int(np.argmax(row)))
        if new[-1] == end_id:
            break
    return new, cache
