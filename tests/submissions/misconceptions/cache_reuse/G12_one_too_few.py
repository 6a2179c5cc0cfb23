"""Stops one token before the context is full."""

# misconception: G12
# fails first: stops
# fails: stops

import numpy as np


def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def cached_attention(queries, keys, values):
    n, T = queries.shape[0], keys.shape[0]
    scores = np.einsum("nd,td->nt", queries, keys) / np.sqrt(keys.shape[-1])
    hidden = np.arange(T)[None, :] > (np.arange(n) + T - n)[:, None]
    scores[hidden] = -1e30
    return softmax(scores) @ values


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
    while len(new) < max_new_tokens and len(prefix) + 1 < model.context_length:
        rows = model.logits(prefix[cache.length :], cache=cache)
        token = int(np.argmax(rows[-1]))
        prefix.append(token)
        new.append(token)
        if token == end_id:
            break
    return new, cache
