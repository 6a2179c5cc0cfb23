"""A budget of 0 makes a token."""

# misconception: G3
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
    prompt = list(prompt)
    if cache is None:
        cache = model.new_cache()
    n = 0
    for old, wanted in zip(cache.token_ids, prompt):
        if old != wanted:
            break
        n += 1
    n = min(n, len(prompt) - 1)
    cache.crop(n)
    tokens = []
    room = min(max(max_new_tokens, 1), model.context_length - len(prompt))
    if room <= 0:
        return tokens, cache
    last = model.logits(prompt[n:], cache=cache)[-1]
    while True:
        token = last.argmax()
        tokens.append(token)
        if token == end_id or len(tokens) == room:
            return tokens, cache
        last = model.logits([token], cache=cache)[-1]
