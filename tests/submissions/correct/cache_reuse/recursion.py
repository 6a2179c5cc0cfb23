"""One token, then the rest, with the cache handed on; it crops itself by the same rule each time."""

import numpy as np


def cached_attention(queries, keys, values):
    n, T = len(queries), len(keys)
    if n == 0:
        return np.zeros((0, keys.shape[1]))
    # the last query may read everything; the others see one position less
    s = keys @ queries[-1] / np.sqrt(keys.shape[1])
    w = np.exp(s - s.max())
    last = (w @ values / w.sum())[None]
    return np.concatenate([cached_attention(queries[:-1], keys[: T - 1], values[: T - 1]), last])


def generate_with_cache(model, prompt, max_new_tokens, end_id=None, cache=None):
    cache = model.new_cache() if cache is None else cache
    prompt = list(prompt)
    if max_new_tokens == 0 or len(prompt) == model.context_length:
        return [], cache
    kept = 0
    while kept < len(prompt) - 1 and cache.token_ids[kept : kept + 1] == [prompt[kept]]:
        kept += 1
    cache.crop(kept)
    token = model.logits(prompt[kept:], cache)[-1].argmax()
    if token == end_id:
        return [token], cache
    more, cache = generate_with_cache(model, [*prompt, token], max_new_tokens - 1, end_id, cache)
    return [token, *more], cache
