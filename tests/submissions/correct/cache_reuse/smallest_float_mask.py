"""Hidden scores are the smallest float64; a while loop with a flag; a tuple comes back as a list."""

import numpy as np


def cached_attention(queries, keys, values):
    number_of_queries, dimension = queries.shape
    number_of_keys = len(keys)
    mask = np.zeros((number_of_queries, number_of_keys), dtype=bool)
    for i in range(number_of_queries):
        for j in range(number_of_keys):
            if j <= number_of_keys - number_of_queries + i:
                mask[i, j] = True
    scores = queries @ keys.T
    scores = scores / np.sqrt(dimension)
    scores = np.where(mask, scores, np.finfo(np.float64).min)
    top = np.amax(scores, axis=1, keepdims=True)
    exponentials = np.exp(scores - top)
    return exponentials @ values / exponentials.sum(axis=1, keepdims=True)


def generate_with_cache(model, prompt, max_new_tokens, end_id=None, cache=None):
    if cache is None:
        cache = model.new_cache()
    prompt_ids = [int(i) for i in prompt]
    i = 0
    cached = cache.token_ids
    while True:
        if i == len(cached) or i == len(prompt_ids) - 1:
            break
        if cached[i] != prompt_ids[i]:
            break
        i += 1
    cache.crop(i)
    new_tokens = []
    pending = prompt_ids[i:]
    done = max_new_tokens <= 0 or len(prompt_ids) >= model.context_length
    while not done:
        logits = model.logits(pending, cache=cache)
        token = int(np.argmax(logits[len(pending) - 1]))
        new_tokens.append(token)
        pending = [token]
        if token == end_id:
            done = True
        elif len(new_tokens) >= max_new_tokens:
            done = True
        elif len(prompt_ids) + len(new_tokens) >= model.context_length:
            done = True
    return [tuple(new_tokens), cache]
