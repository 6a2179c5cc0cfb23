"""Hidden scores of -10,000 are larger than the true ones."""

# misconception: None
# fails first: attention_stable
# fails: attention_stable

import numpy as np


def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def cached_attention(queries, keys, values):
    n, T = queries.shape[0], keys.shape[0]
    scores = np.einsum("nd,td->nt", queries, keys) / np.sqrt(keys.shape[-1])
    hidden = np.arange(T)[None, :] > (np.arange(n) + T - n)[:, None]
    scores[hidden] = -1e4
    return softmax(scores) @ values


def generate_with_cache(model, prompt, max_new_tokens, end_id=None, cache=None):
    prompt = [int(t) for t in prompt]
    if cache is None:
        cache = model.new_cache()
    keep = 0
    for a, b in zip(cache.token_ids, prompt[:-1]):
        if a != b:
            break
        keep += 1
    cache.crop(keep)
    new = []
    feed = prompt[keep:]
    while len(new) < max_new_tokens and len(prompt) + len(new) < model.context_length:
        logits = model.logits(feed, cache=cache)[-1]
        token = int(np.argmax(logits))
        new.append(token)
        if token == end_id:
            break
        feed = [token]
    return new, cache
