"""np.triu with minus infinity added to the scores; takewhile for the common prefix; a for loop."""

from itertools import takewhile

import numpy as np


def cached_attention(queries, keys, values):
    n, T = len(queries), len(keys)
    scores = np.dot(queries, np.transpose(keys)) / np.sqrt(keys.shape[1])
    scores = scores + np.triu(np.full((n, T), -np.inf), k=T - n + 1)
    scores -= np.max(scores, axis=1)[:, np.newaxis]
    weights = np.exp(scores)
    return np.matmul(weights / np.sum(weights, axis=1)[:, np.newaxis], values)


def generate_with_cache(model, prompt, max_new_tokens, end_id=None, cache=None):
    if cache is None:
        cache = model.new_cache()
    pairs = zip(cache.token_ids, prompt, strict=False)
    agreed = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    cache.crop(min(agreed, len(prompt) - 1))
    feed = prompt[cache.length :]
    new = []
    for _ in range(min(max_new_tokens, model.context_length - len(prompt))):
        scores = model.logits(feed, cache=cache)[-1]
        best = max(range(model.n_vocab), key=lambda token: scores[token])
        new.append(best)
        if best == end_id:
            break
        feed = [best]
    return new, cache
