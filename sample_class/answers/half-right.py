# Half right: the greedy loop is there, the reason it gives is always the same, and it never draws.
# %% generation-loop
import numpy as np


def generate(model, prompt, max_new_tokens, end_id=None, rng=None, temperature=1.0):
    prefix = list(prompt)
    new_tokens = []
    while len(new_tokens) < max_new_tokens and len(prefix) < model.context_length:
        token = int(np.argmax(model.logits(prefix)[-1]))
        prefix.append(token)
        new_tokens.append(token)
        if token == end_id:
            break
    return new_tokens, "length"


# %% question-one-draw
answer_one_draw = "B"
