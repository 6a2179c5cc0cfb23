# A common slip: the budget is held against the whole prefix, so that the prompt uses it up.
# %% generation-loop
import numpy as np


def generate(model, prompt, max_new_tokens, end_id=None, rng=None, temperature=1.0):
    prefix = list(prompt)
    while True:
        if len(prefix) >= max_new_tokens:
            return prefix[len(prompt) :], "length"
        if len(prefix) >= model.context_length:
            return prefix[len(prompt) :], "context"
        if rng is not None and temperature <= 0:
            raise ValueError("temperature must be above 0")
        logits = model.logits(prefix)[-1]
        if rng is None:
            token = int(np.argmax(logits))
        else:
            probabilities = np.exp((logits - logits.max()) / temperature)
            token = int(rng.choice(model.n_vocab, p=probabilities / probabilities.sum()))
        prefix.append(token)
        if token == end_id:
            return prefix[len(prompt) :], "stop"


# %% question-one-draw
answer_one_draw = 4
