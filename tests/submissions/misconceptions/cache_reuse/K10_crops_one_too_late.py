"""Keeps the first token that differs."""

# misconception: K10
# fails first: common_prefix
# fails: common_prefix

import numpy as np


def cached_attention(queries, keys, values):
    n = len(queries)
    T, d = keys.shape
    out = np.zeros((n, d))
    for i in range(n):
        last = T - n + i
        s = keys[: last + 1] @ queries[i] / d**0.5
        p = np.exp(s - s.max())
        out[i] = (p / p.sum()) @ values[: last + 1]
    return out


def generate_with_cache(model, prompt, max_new_tokens, end_id=None, cache=None):
    prompt = list(prompt)
    if cache is None:
        cache = model.new_cache()
    n = 0
    for old, wanted in zip(cache.token_ids, prompt):
        if old != wanted:
            break
        n += 1
    n = min(n + 1, cache.length, len(prompt) - 1)
    cache.crop(n)
    tokens = []
    room = min(max_new_tokens, model.context_length - len(prompt))
    if room <= 0:
        return tokens, cache
    last = model.logits(prompt[n:], cache=cache)[-1]
    while True:
        token = last.argmax()
        tokens.append(token)
        if token == end_id or len(tokens) == room:
            return tokens, cache
        last = model.logits([token], cache=cache)[-1]
