"""Crops from the end until what is left begins the prompt; a deque of what is to be fed; a sentinel end id."""

from collections import deque

import numpy as np


def cached_attention(queries, keys, values):
    n, d = queries.shape
    T = len(keys)
    position = np.indices((n, T))
    later = position[1] - position[0] > T - n
    scores = np.inner(queries, keys) / np.sqrt(d)
    np.putmask(scores, later, -np.inf)
    shifted = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.average(
        np.broadcast_to(values, (n, T, d)), axis=1, weights=np.broadcast_to(shifted[:, :, None], (n, T, d))
    )


def generate_with_cache(model, prompt, max_new_tokens, end_id=None, cache=None):
    stop = -1 if end_id is None else end_id
    prompt = tuple(int(t) for t in prompt)
    if cache is None:
        cache = model.new_cache()
    while cache.length >= len(prompt) or tuple(cache.token_ids) != prompt[: cache.length]:
        cache.crop(cache.length - 1)
    queue = deque(prompt[cache.length :])
    made = []
    while (count := len(made)) < max_new_tokens and count + len(prompt) < model.context_length:
        while queue:
            scores = model.logits([queue.popleft()], cache=cache)
        made.append(int(scores.argmax()))
        queue.append(made[-1])
        if made[-1] == stop:
            break
    return tuple(made), cache
