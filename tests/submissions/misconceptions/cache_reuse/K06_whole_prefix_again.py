"""Each pass feeds the whole prefix to the cache that holds it."""

# misconception: K6
# fails first: tokens
# fails: tokens, fed_once

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
    prompt = [int(t) for t in prompt]
    if cache is None:
        cache = model.new_cache()
    keep = 0
    for a, b in zip(cache.token_ids, prompt[:-1]):
        if a != b:
            break
        keep += 1
    cache.crop(keep)
    new = []
    feed = prompt[keep:]
    while len(new) < max_new_tokens and len(prompt) + len(new) < model.context_length:
        logits = model.logits(feed, cache=cache)[-1]
        token = int(np.argmax(logits))
        new.append(token)
        if token == end_id:
            break
        feed = prompt + new
    return new, cache
