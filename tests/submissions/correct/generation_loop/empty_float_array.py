"""Tokens gathered in a list, turned into an array at the end: with no tokens that is an empty float array."""

import numpy as np


def generate(model, prompt, max_new_tokens, end_id=None, rng=None, temperature=1.0):
    new_tokens = []
    reason = "length"
    remaining = max_new_tokens
    while remaining:
        prefix = list(prompt) + new_tokens
        if len(prefix) == model.context_length:
            reason = "context"
            break
        z = model.logits(prefix)[-1]
        if rng is not None:
            if temperature <= 0:
                raise ValueError("temperature")
            z = z / temperature
            p = np.exp(z - np.amax(z))
            new_tokens.append(int(rng.choice(z.size, p=p / p.sum())))
        else:
            new_tokens.append(int(z.argmax()))
        remaining -= 1
        if new_tokens[-1] == end_id:
            reason = "stop"
            break
    return np.array(new_tokens), reason
