"""Prints and a warning left in from debugging."""

import sys
import warnings

import numpy as np


def cached_attention(queries, keys, values):
    print("shapes", queries.shape, keys.shape, values.shape)
    n, d = queries.shape
    T = len(keys)
    scores = queries @ keys.T / d**0.5
    mask = np.tril(np.ones((T, T)))[T - n :]
    print(mask)
    scores = np.where(mask == 1, scores, -np.inf)
    weights = np.exp(scores - scores.max(1)[:, None])
    weights = weights / weights.sum(1)[:, None]
    print("sums", weights.sum(1), file=sys.stderr)
    return weights @ values


def generate_with_cache(model, prompt, max_new_tokens, end_id=None, cache=None):
    warnings.warn("still debugging", stacklevel=2)
    if cache is None:
        cache = model.new_cache()
    else:
        print("got a cache with", cache.token_ids)
    sequence = list(prompt)
    match = 0
    while (
        match < len(cache.token_ids) and match < len(sequence) and cache.token_ids[match] == sequence[match]
    ):
        match += 1
    print("match", match, "of", len(sequence))
    if match == len(sequence):
        match -= 1
    cache.crop(match)
    result = []
    for step in range(max_new_tokens):
        if len(sequence) >= model.context_length:
            print("context is full")
            return result, cache
        to_feed = sequence[cache.length :]
        print(step, "feeding", to_feed, file=sys.stderr)
        logits = model.logits(to_feed, cache=cache)
        token = int(np.argmax(logits[-1, :]))
        sequence.append(token)
        result.append(token)
        if end_id is not None:
            if token == end_id:
                return result, cache
    return result, cache
