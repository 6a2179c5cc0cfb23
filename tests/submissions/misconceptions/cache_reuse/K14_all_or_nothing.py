"""Keeps the cache where all of it agrees, and nothing of it otherwise."""

# misconception: K14
# fails first: common_prefix
# fails: common_prefix

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
    prompt = list(prompt)
    if cache is None:
        cache = model.new_cache()
    n = 0
    for old, wanted in zip(cache.token_ids, prompt):
        if old != wanted:
            break
        n += 1
    if n < cache.length:
        n = 0
    n = min(n, len(prompt) - 1)
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
