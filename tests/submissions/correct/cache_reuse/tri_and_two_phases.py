"""np.tri for the mask; a prefill, then decode steps; os.path.commonprefix."""

import os

import numpy as np


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def cached_attention(queries, keys, values):
    n, d = queries.shape
    T, _ = keys.shape
    scores = (queries @ keys.T) * d**-0.5
    mask = np.tri(n, T, k=T - n)
    scores[mask == 0] = -np.inf
    return softmax(scores) @ values


def generate_with_cache(model, prompt, max_new_tokens, end_id=None, cache=None):
    prompt = np.asarray(prompt).tolist()
    cache = cache or model.new_cache()
    common = os.path.commonprefix([cache.token_ids, prompt])
    keep = min(len(common), len(prompt) - 1)
    if keep != cache.length:
        cache.crop(keep)

    # prefill
    if max_new_tokens == 0 or len(prompt) == model.context_length:
        return [], cache
    logits = model.logits(prompt[keep:], cache=cache)[-1]

    # decode
    out = []
    while True:
        out.append(np.argmax(logits))
        if out[-1] == end_id:
            break
        if len(out) == max_new_tokens:
            break
        if len(prompt) + len(out) == model.context_length:
            break
        logits = model.logits(out[-1:], cache=cache)[-1]
    return np.array(out), cache
