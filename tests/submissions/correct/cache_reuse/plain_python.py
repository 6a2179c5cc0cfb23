"""Sums and math.exp in place of NumPy; nested lists come back."""

import math


def cached_attention(queries, keys, values):
    n, T, d = len(queries), len(keys), len(keys[0])
    answer = []
    for i in range(n):
        scores = []
        for j in range(T - n + i + 1):
            scores.append(sum(float(q) * float(k) for q, k in zip(queries[i], keys[j])) / math.sqrt(d))
        top = max(scores)
        weights = [math.exp(s - top) for s in scores]
        total = math.fsum(weights)
        answer.append(
            [math.fsum(w * float(values[j][c]) for j, w in enumerate(weights)) / total for c in range(d)]
        )
    return answer


def generate_with_cache(model, prompt, max_new_tokens, end_id=None, cache=None):
    if cache is None:
        cache = model.new_cache()
    text = [int(t) for t in prompt]
    start = len(text)
    keep = 0
    for old, wanted in zip(cache.token_ids, text[:-1]):
        if old == wanted:
            keep += 1
        else:
            break
    cache.crop(keep)
    while len(text) - start < max_new_tokens:
        if len(text) == model.context_length:
            break
        row = model.logits(text[cache.length :], cache=cache)[-1].tolist()
        text.append(row.index(max(row)))
        if text[-1] == end_id:
            break
    return text[start:], cache
