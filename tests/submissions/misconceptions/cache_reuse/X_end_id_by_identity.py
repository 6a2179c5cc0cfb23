"""Asks for the end token with `is`, which holds for small ids only."""

# misconception: None
# fails first: stops
# fails: stops

import numpy as np


def cached_attention(queries, keys, values):
    n, d = queries.shape
    T = len(keys)
    scores = queries @ keys.T / np.sqrt(d)
    scores = np.where(np.tri(n, T, T - n, dtype=bool), scores, -np.inf)
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True) @ values


def generate_with_cache(model, prompt, max_new_tokens, end_id=None, cache=None):
    prefix = [int(token_id) for token_id in prompt]
    if cache is None:
        cache = model.new_cache()
    held = cache.token_ids
    most = min(len(held), len(prefix) - 1)
    kept = 0
    while kept < most and held[kept] == prefix[kept]:
        kept += 1
    cache.crop(kept)
    new_token_ids = []
    while len(new_token_ids) < max_new_tokens and len(prefix) < model.context_length:
        rows = model.logits(prefix[cache.length :], cache=cache)
        token_id = int(np.argmax(rows[-1]))
        prefix.append(token_id)
        new_token_ids.append(token_id)
        if token_id is end_id:
            break
    return new_token_ids, cache
