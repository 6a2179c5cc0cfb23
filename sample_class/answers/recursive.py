# Right: no loop at all; each call makes one token and asks itself for the rest.
# %% generation-loop
import numpy as np


def select(logits, rng, temperature):
    if rng is None:
        return int(np.argmax(logits))
    if temperature <= 0:
        raise ValueError("temperature must be positive")
    weights = np.exp((logits - logits.max()) / temperature)
    return int(rng.choice(len(weights), p=weights / weights.sum()))


def generate(model, prompt, max_new_tokens, end_id=None, rng=None, temperature=1.0):
    prompt = list(prompt)
    if max_new_tokens == 0:
        return [], "length"
    if len(prompt) == model.context_length:
        return [], "context"
    token = select(model.logits(prompt)[-1], rng, temperature)
    if token == end_id:
        return [token], "stop"
    rest, reason = generate(model, [*prompt, token], max_new_tokens - 1, end_id, rng, temperature)
    return [token, *rest], reason


# %% question-one-draw
answer_one_draw = "e"
