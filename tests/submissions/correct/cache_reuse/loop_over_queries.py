"""One query at a time over the keys it may read; the prompt is fed token by token."""

import numpy as np


def cached_attention(queries, keys, values):
    T, d_head = keys.shape
    n = queries.shape[0]
    result = np.empty((n, d_head))
    for i, q in enumerate(queries):
        end = T - n + i + 1
        scores = keys[:end].dot(q) / np.sqrt(d_head)
        scores = scores - scores.max()
        probs = np.exp(scores) / np.exp(scores).sum()
        result[i] = probs.dot(values[:end])
    return result


def generate_with_cache(model, prompt, max_new_tokens, end_id=None, cache=None):
    if cache is None:
        cache = model.new_cache()
    tokens = list(prompt)
    same = 0
    for old, new in zip(cache.token_ids, tokens):
        if old != new:
            break
        same += 1
    if same == len(tokens):
        same = same - 1
    cache.crop(same)
    generated = []
    while len(generated) < max_new_tokens and len(tokens) < model.context_length:
        while cache.length < len(tokens):
            row = model.logits([tokens[cache.length]], cache=cache)[0]
        next_token = row.argmax()
        tokens.append(next_token)
        generated.append(next_token)
        if end_id is not None and next_token == end_id:
            break
    return generated, cache
