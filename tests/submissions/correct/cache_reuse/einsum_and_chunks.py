"""einsum for scores and mix; the prompt is read in parts of two."""

import numpy as np


def cached_attention(queries, keys, values):
    n, d = queries.shape
    T = keys.shape[0]
    scores = np.einsum("id,jd->ij", queries, keys) / np.sqrt(d)
    own = np.arange(n) + (T - n)
    scores = np.where(np.arange(T)[None, :] > own[:, None], -1e9, scores)
    scores = scores - scores.max(-1, keepdims=True)
    att = np.exp(scores)
    att = att / att.sum(-1, keepdims=True)
    return np.einsum("ij,jd->id", att, values)


def prefix_length(a, b):
    for i in range(min(len(a), len(b))):
        if a[i] != b[i]:
            return i
    return min(len(a), len(b))


def generate_with_cache(model, prompt, max_new_tokens, end_id=None, cache=None):
    prompt = [int(p) for p in prompt]
    if cache is None:
        cache = model.new_cache()
    cache.crop(min(prefix_length(cache.token_ids, prompt), len(prompt) - 1))
    rest = prompt[cache.length :]
    for i in range(0, len(rest), 2):
        rows = model.logits(rest[i : i + 2], cache=cache)
    out = []
    while len(out) < max_new_tokens and len(prompt) + len(out) < model.context_length:
        if out:
            rows = model.logits(np.array([out[-1]]), cache=cache)
        out.append(int(rows[-1].argmax()))
        if out[-1] == end_id:
            return out, cache
    return out, cache
