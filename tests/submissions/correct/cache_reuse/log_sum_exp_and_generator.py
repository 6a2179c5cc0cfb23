"""logaddexp for the softmax; a Python generator for the tokens, cut short by islice."""

from itertools import islice

import numpy as np


def cached_attention(queries, keys, values):
    n, T = queries.shape[0], keys.shape[0]
    scores = queries @ keys.T / np.sqrt(queries.shape[1])
    rows = []
    for i in range(n):
        visible = scores[i, : T - n + i + 1]
        rows.append(np.exp(visible - np.logaddexp.reduce(visible)) @ values[: T - n + i + 1])
    return np.vstack(rows)


def _tokens(model, feed, end_id, cache):
    while True:
        token = int(model.logits(feed, cache=cache)[-1].argmax())
        yield token
        if token == end_id:
            return
        feed = [token]


def generate_with_cache(model, prompt, max_new_tokens, end_id=None, cache=None):
    cache = cache if cache is not None else model.new_cache()
    ids = list(map(int, prompt))
    held = cache.token_ids
    kept = next(
        (i for i in range(len(ids)) if i == len(ids) - 1 or i == len(held) or held[i] != ids[i]),
        0,
    )
    cache.crop(kept)
    room = model.context_length - len(ids)
    return list(islice(_tokens(model, ids[kept:], end_id, cache), min(room, max_new_tokens))), cache
