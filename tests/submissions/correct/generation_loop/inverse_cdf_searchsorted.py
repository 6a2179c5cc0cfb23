"""A draw by the inverse of the cumulative distribution, with searchsorted; an array comes back."""

import numpy as np


def draw(logits, temperature, rng):
    scaled = logits / temperature
    log_p = scaled - scaled.max()
    log_p = log_p - np.log(np.exp(log_p).sum())
    cdf = np.cumsum(np.exp(log_p))
    return np.searchsorted(cdf / cdf[-1], rng.random(), side="right")


def generate(model, prompt, max_new_tokens, end_id=None, rng=None, temperature=1.0):
    if rng is not None and temperature <= 0 < max_new_tokens:
        raise ValueError("a temperature of 0 or less is no distribution")
    sequence = np.array(prompt, dtype=int)
    start = len(sequence)
    finish = None
    while finish is None:
        if len(sequence) - start == max_new_tokens:
            finish = "length"
        elif len(sequence) == model.context_length:
            finish = "context"
        else:
            logits = model.logits(sequence)[-1]
            chosen = np.argmax(logits) if rng is None else draw(logits, temperature, rng)
            sequence = np.append(sequence, chosen)
            if chosen == end_id:
                finish = "stop"
    return sequence[start:], finish
