"""The steps come from a Python generator; `generate` collects them."""

import numpy as np


def steps(model, prompt, select):
    prefix = list(prompt)
    while len(prefix) < model.context_length:
        token = select(model.logits(prefix)[-1])
        prefix = prefix + [token]
        yield token


def generate(model, prompt, max_new_tokens, end_id=None, rng=None, temperature=1.0):
    if max_new_tokens == 0:
        return [], "length"
    if rng is not None and temperature <= 0:
        raise ValueError("temperature has to be positive")

    def select(logits):
        if rng is None:
            return int(logits.argmax())
        weights = np.exp((logits - logits.max()) / temperature)
        return int(rng.choice(logits.size, p=weights / weights.sum()))

    tokens = []
    for token in steps(model, prompt, select):
        tokens.append(token)
        if token == end_id:
            return tokens, "stop"
        if len(tokens) == max_new_tokens:
            return tokens, "length"
    return tokens, "context"
