"""The standard library's accumulate and bisect for the draw, and a lambda for the selection."""

from bisect import bisect_right
from itertools import accumulate

import numpy as np


def generate(model, prompt, max_new_tokens, end_id=None, rng=None, temperature=1.0):
    def sample(row):
        if temperature <= 0:
            raise ValueError("temperature must be above zero")
        weights = np.exp((row - row.max()) / temperature)
        cdf = list(accumulate((weights / weights.sum()).tolist()))
        return bisect_right(cdf, rng.random() * cdf[-1])

    select = sample if rng is not None else lambda row: int(row.argmax())
    full = model.context_length
    ids = [*prompt]
    while (made := len(ids) - len(prompt)) < max_new_tokens and len(ids) < full:
        ids.append(select(model.logits(ids)[-1]))
        if ids[-1] == end_id:
            return ids[len(prompt) :], "stop"
    return ids[len(prompt) :], "length" if made == max_new_tokens else "context"
