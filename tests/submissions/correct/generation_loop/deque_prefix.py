"""A deque for the prefix and a match on the state; a tuple of tokens comes back."""

from collections import deque

import numpy as np


def _softmax(row, temperature):
    shifted = np.exp(row / temperature - (row / temperature).max())
    return shifted / shifted.sum()


def generate(model, prompt, max_new_tokens, end_id=None, rng=None, temperature=1.0):
    prefix = deque(prompt)
    length = len(prefix)
    if rng is not None and max_new_tokens and temperature <= 0:
        raise ValueError("bad temperature")

    def state():
        if len(prefix) > length and prefix[-1] == end_id:
            return "stop"
        if len(prefix) - length == max_new_tokens:
            return "length"
        if len(prefix) == model.context_length:
            return "context"
        return None

    while (reason := state()) is None:
        row = model.logits(list(prefix))[-1]
        p = _softmax(row, 1.0 if rng is None else temperature)
        prefix.append(int(p.argmax()) if rng is None else int(rng.choice(p.size, p=p)))
    return tuple(prefix)[length:], reason
