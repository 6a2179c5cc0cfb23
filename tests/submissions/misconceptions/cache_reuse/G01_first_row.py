"""Predicts from the first row of each pass."""

# misconception: G1
# fails first: tokens
# fails: tokens

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
        logits = model.logits(feed, cache=cache)[0]
        token = int(np.argmax(logits))
        new.append(token)
        if token == end_id:
            break
        feed = [token]
    return new, cache
