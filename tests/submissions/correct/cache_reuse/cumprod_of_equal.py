"""The common prefix as a cumulative product; a big square mask from which the last rows are cut."""

import numpy as np


def cached_attention(queries, keys, values):
    n, d = queries.shape
    T = keys.shape[0]
    whole = np.triu(np.ones((T, T), dtype=bool), k=1)
    scores = np.ma.array(queries @ keys.T / np.sqrt(d), mask=whole[T - n :]).filled(-1e20)
    scores -= scores.max(axis=1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=1, keepdims=True)
    return scores @ values


def generate_with_cache(model, prompt, max_new_tokens, end_id=None, cache=None):
    prompt = np.array(prompt, dtype=np.int64)
    if cache is None:
        cache = model.new_cache()
    old = np.array(cache.token_ids, dtype=np.int64)
    m = min(old.size, prompt.size - 1)
    kept = int(np.cumprod(old[:m] == prompt[:m]).sum())
    cache.crop(kept)
    feed = prompt[kept:]
    new = np.empty(0, dtype=np.int64)
    while new.size < max_new_tokens and prompt.size + new.size < model.context_length:
        row = model.logits(feed, cache=cache)[-1]
        token = np.flatnonzero(row == row.max())[0]
        new = np.append(new, token)
        if token == end_id:
            break
        feed = new[-1:]
    return new, cache
