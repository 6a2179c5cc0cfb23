"""Recursion: one token, then the rest."""

import numpy as np


def generate(model, prompt, max_new_tokens, end_id=None, rng=None, temperature=1.0):
    if max_new_tokens == 0:
        return [], "length"
    if len(prompt) == model.context_length:
        return [], "context"
    if rng is not None and not temperature > 0:
        raise ValueError(f"temperature {temperature} must be above 0")
    row = model.logits(prompt)[-1]
    if rng is None:
        token = row.argmax()
    else:
        row = (row - row.max()) / temperature
        token = rng.choice(len(row), p=np.exp(row) / np.exp(row).sum())
    if token == end_id:
        return [token], "stop"
    rest, reason = generate(model, [*prompt, token], max_new_tokens - 1, end_id, rng, temperature)
    return [token, *rest], reason
