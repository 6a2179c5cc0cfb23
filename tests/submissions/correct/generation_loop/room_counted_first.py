"""How many steps there is room for is worked out before the loop."""

import numpy as np


def generate(model, prompt, max_new_tokens, end_id=None, rng=None, temperature=1.0):
    room = model.context_length - len(prompt)
    count = min(room, max_new_tokens)
    reason = "length" if max_new_tokens <= room else "context"
    sampling = rng is not None
    if sampling and count > 0 and temperature <= 0:
        raise ValueError
    buffer = np.empty(len(prompt) + count, dtype=np.int32)
    buffer[: len(prompt)] = prompt
    for i in range(len(prompt), len(prompt) + count):
        logits = model.logits(buffer[:i])[-1]
        if sampling:
            scaled = logits / temperature
            p = np.exp(scaled - np.logaddexp.reduce(scaled))
            p /= p.sum()
            buffer[i] = rng.choice(p.size, p=p)
        else:
            buffer[i] = logits.argmax()
        if buffer[i] == end_id:
            return buffer[len(prompt) : i + 1], "stop"
    return buffer[len(prompt) :], reason
