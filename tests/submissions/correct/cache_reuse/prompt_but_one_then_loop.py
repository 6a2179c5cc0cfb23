"""The prompt but for its last token is read first, so that every step of the loop feeds one token."""

import numpy as np


def attend_one(q, k, v):
    s = k @ q / np.sqrt(len(q))
    s = np.exp(s - s.max())
    return s / s.sum() @ v


def cached_attention(queries, keys, values):
    past = len(keys) - len(queries)
    return np.stack(
        [attend_one(q, keys[: past + i], values[: past + i]) for i, q in enumerate(queries, start=1)]
    )


def generate_with_cache(model, prompt, max_new_tokens, end_id=None, cache=None):
    if cache is None:
        cache = model.new_cache()
    *body, token = [int(t) for t in prompt]
    budget = min(max_new_tokens, model.context_length - len(prompt))
    if not budget:
        return [], cache
    kept = 0
    for old, wanted in zip(cache.token_ids, body):
        if old != wanted:
            break
        kept += 1
    cache.crop(kept)
    if body[kept:]:
        model.logits(body[kept:], cache=cache)
    new = []
    for _ in range(budget):
        token = int(model.logits([token], cache=cache)[0].argmax())
        new.append(token)
        if token == end_id:
            break
    return new, cache
