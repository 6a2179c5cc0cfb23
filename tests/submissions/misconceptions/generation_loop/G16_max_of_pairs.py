"""The maximum of (logit, id) pairs."""

# misconception: G16
# fails first: greedy
# fails: greedy

import numpy as np


def generate(model, prompt, max_new_tokens, end_id=None, rng=None, temperature=1.0):
    if rng is not None and temperature <= 0 and max_new_tokens > 0:
        raise ValueError("temperature must be positive")
    prefix = list(prompt)
    new = []
    while True:
        if len(new) == max_new_tokens:
            return new, "length"
        if len(prefix) == model.context_length:
            return new, "context"
        logits = model.logits(prefix)[-1]
        if rng is None:
            token = max((x, i) for i, x in enumerate(logits))[1]
        else:
            z = logits / temperature
            p = np.exp(z - z.max())
            token = int(rng.choice(model.n_vocab, p=p / p.sum()))
        prefix.append(token)
        new.append(token)
        if token == end_id:
            return new, "stop"
