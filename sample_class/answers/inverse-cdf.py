# Right: draws by hand, one uniform number held against the cumulative probabilities.
# %% generation-loop
import math

import numpy as np


def generate(model, prompt, max_new_tokens, end_id=None, rng=None, temperature=1.0):
    tokens = []
    for _ in range(max_new_tokens):
        prefix = [*prompt, *tokens]
        if len(prefix) == model.context_length:
            return tokens, "context"
        scores = [float(score) for score in model.logits(prefix)[-1]]
        if rng is None:
            tokens.append(scores.index(max(scores)))
        elif temperature <= 0:
            raise ValueError("cannot divide by a temperature of 0 or below")
        else:
            weights = [math.exp((score - max(scores)) / temperature) for score in scores]
            cumulative = np.cumsum(weights) / sum(weights)
            tokens.append(int(np.searchsorted(cumulative, rng.random(), side="right")))
        if tokens[-1] == end_id:
            return tokens, "stop"
    return tokens, "length"


# %% question-one-draw
answer_one_draw = "E"
