"""The selected token never joins the prefix."""

# misconception: G4
# fails first: greedy
# fails: greedy, context, sampling, passes

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
            token = int(np.argmax(logits))
        else:
            z = logits / temperature
            p = np.exp(z - z.max())
            token = int(rng.choice(model.n_vocab, p=p / p.sum()))
        new.append(token)
        if token == end_id:
            return new, "stop"
