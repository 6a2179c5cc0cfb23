"""Seeds NumPy's global state from the generator and draws from that."""

# misconception: G11
# fails first: sampling
# fails: sampling, temperature

import numpy as np


def softmax(x):
    e = np.exp(x - np.max(x))
    return e / e.sum()


def generate(model, prompt, max_new_tokens, end_id=None, rng=None, temperature=1.0):
    if rng is not None and max_new_tokens > 0 and temperature <= 0:
        raise ValueError("temperature <= 0")
    if rng is not None:
        np.random.seed(rng.integers(2**31))
    tokens = [int(t) for t in prompt]
    n = len(tokens)
    reason = "length"
    for _ in range(max_new_tokens):
        if len(tokens) >= model.context_length:
            reason = "context"
            break
        last = model.logits(tokens)[-1]
        if rng is None:
            token = np.argmax(last)
        else:
            token = np.random.choice(len(last), p=softmax(last / temperature))
        tokens.append(token)
        if end_id is not None and token == end_id:
            reason = "stop"
            break
    return tokens[n:], reason
