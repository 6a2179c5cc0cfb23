"""The first place where the cumulative distribution passes the uniform number."""

import numpy as np


def choose(logits, rng, temperature):
    if rng is None:
        return np.argmax(logits)
    if not temperature > 0:
        raise ValueError(temperature)
    logits = np.asarray(logits, dtype=float) - np.max(logits)
    p = np.exp(logits / temperature)
    u = rng.random() * p.sum()
    return np.argmax(np.cumsum(p) > u)


def generate(model, prompt, max_new_tokens, end_id=None, rng=None, temperature=1.0):
    seen, new, done = np.array(prompt), [], False
    while not done:
        if len(new) == max_new_tokens:
            why, done = "length", True
        elif seen.size == model.context_length:
            why, done = "context", True
        else:
            t = choose(model.logits(seen)[-1], rng, temperature)
            seen = np.r_[seen, t]
            new.append(t)
            if end_id is not None and int(t) == int(end_id):
                why, done = "stop", True
    return new, why
