"""The rows are averaged before the selection."""

# misconception: G1
# fails first: greedy
# fails: greedy, sampling

import numpy as np


def softmax(x):
    e = np.exp(x - np.max(x))
    return e / e.sum()


def generate(model, prompt, max_new_tokens, end_id=None, rng=None, temperature=1.0):
    if rng is not None and max_new_tokens > 0 and temperature <= 0:
        raise ValueError("temperature <= 0")
    tokens = [int(t) for t in prompt]
    n = len(tokens)
    reason = "length"
    for _ in range(max_new_tokens):
        if len(tokens) >= model.context_length:
            reason = "context"
            break
        last = model.logits(tokens).mean(axis=0)
        if rng is None:
            token = np.argmax(last)
        else:
            token = rng.choice(len(last), p=softmax(last / temperature))
        tokens.append(token)
        if end_id is not None and token == end_id:
            reason = "stop"
            break
    return tokens[n:], reason
