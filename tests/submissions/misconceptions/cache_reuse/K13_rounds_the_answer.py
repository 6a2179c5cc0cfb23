"""Rounds, so that the parts equal the whole."""

# misconception: K13
# fails first: attention_values
# fails: attention_values

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
    return np.round(out, 6)


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
    while len(new) < max_new_tokens and len(prefix) < model.context_length:
        rows = model.logits(prefix[cache.length :], cache=cache)
        token = int(np.argmax(rows[-1]))
        prefix.append(token)
        new.append(token)
        if token == end_id:
            break
    return new, cache
