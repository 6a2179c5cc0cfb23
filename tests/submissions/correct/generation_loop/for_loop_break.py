"""A for loop with breaks, the reason kept in a variable."""

import numpy as np


def softmax(x):
    e = np.exp(x - np.max(x))
    return e / np.sum(e)


def generate(model, prompt, max_new_tokens, end_id=None, rng=None, temperature=1.0):
    if rng is not None and temperature <= 0:
        raise ValueError("temperature")
    tokens = [int(t) for t in prompt]
    n = len(tokens)
    reason = "length"
    for _ in range(max_new_tokens):
        if len(tokens) == model.context_length:
            reason = "context"
            break
        last = model.logits(tokens)[-1, :]
        if rng is None:
            nxt = np.argmax(softmax(last))
        else:
            nxt = rng.choice(np.arange(model.n_vocab), p=softmax(last / temperature))
        tokens.append(nxt)
        if nxt == end_id:
            reason = "stop"
            break
    return tokens[n:], reason
