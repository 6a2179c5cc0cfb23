# Right: one while loop that holds every condition, NumPy arrays for the tokens.
# %% generation-loop
import numpy as np


def generate(model, prompt, max_new_tokens, end_id=None, rng=None, temperature=1.0):
    prefix = np.array(prompt, dtype=int)
    start = len(prefix)
    if rng is not None and temperature <= 0 and max_new_tokens > 0 and start < model.context_length:
        raise ValueError("the temperature must be above 0")
    stopped = False
    while not stopped and len(prefix) - start < max_new_tokens and len(prefix) < model.context_length:
        last = model.logits(prefix)[-1]
        if rng is None:
            token = np.argmax(last)
        else:
            p = np.exp((last - np.max(last)) / temperature)
            token = rng.choice(model.n_vocab, p=p / p.sum())
        prefix = np.append(prefix, token)
        stopped = end_id is not None and token == end_id
    if stopped:
        reason = "stop"
    elif len(prefix) - start == max_new_tokens:
        reason = "length"
    else:
        reason = "context"
    return prefix[start:], reason


# %% question-one-draw
answer_one_draw = "E"
