"""The reasons are members of a string enumeration."""

from enum import Enum

import numpy as np


class Finish(str, Enum):
    STOP = "stop"
    LENGTH = "length"
    CONTEXT = "context"


def generate(model, prompt, max_new_tokens, end_id=None, rng=None, temperature=1.0):
    prompt = np.asarray(prompt)
    new = np.full(max_new_tokens, -1)
    for step in range(max_new_tokens + 1):
        if step == max_new_tokens:
            return new[:step], Finish.LENGTH
        prefix = np.concatenate((prompt, new[:step]))
        if len(prefix) == model.context_length:
            return new[:step], Finish.CONTEXT
        logits = model.logits(prefix)[-1]
        if rng is None:
            new[step] = np.argmax(logits)
        elif temperature > 0:
            p = np.exp(logits / temperature - np.max(logits / temperature))
            new[step] = rng.choice(logits.shape[0], p=p / np.sum(p))
        else:
            raise ValueError("temperature must be > 0")
        if new[step] == end_id:
            return new[: step + 1], Finish.STOP
