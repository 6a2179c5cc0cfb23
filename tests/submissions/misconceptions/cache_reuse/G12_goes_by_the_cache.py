"""Asks whether the cache is full, which comes one token later."""

# misconception: G12
# fails first: stops
# fails: stops

import numpy as np


def cached_attention(queries, keys, values):
    n, d = queries.shape
    T = len(keys)
    scores = queries @ keys.T / np.sqrt(d)
    mask = np.tri(n, T, T - n, dtype=bool)
    scores = np.where(mask, scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights = weights / weights.sum(axis=1, keepdims=True)
    return weights @ values


def generate_with_cache(model, prompt, max_new_tokens, end_id=None, cache=None):
    prefix = [int(t) for t in prompt]
    if cache is None:
        cache = model.new_cache()
    held = cache.token_ids
    kept = 0
    while kept < min(len(held), len(prefix) - 1) and held[kept] == prefix[kept]:
        kept += 1
    cache.crop(kept)
    new = []
    while len(new) < max_new_tokens and cache.length < model.context_length:
        rows = model.logits(prefix[cache.length :], cache=cache)
        token = int(np.argmax(rows[-1]))
        prefix.append(token)
        new.append(token)
        if token == end_id:
            break
    return new, cache
