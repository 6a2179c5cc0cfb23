"""Hands the work to the library."""

# misconception: None
# fails first: tokens
# fails: tokens, fed_once, stops, common_prefix, returned_cache

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
    run = model.generate(prompt, max_new_tokens, end_id=end_id, greedy=True, use_cache=True)
    return run.token_ids, cache
