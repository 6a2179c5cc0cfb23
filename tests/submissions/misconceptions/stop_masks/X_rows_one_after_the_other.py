"""Each row is run to its end before the next one begins."""

# misconception: None
# fails first: only_live_rows
# fails: only_live_rows

import numpy as np


def account(choices, end_id):
    choices = np.asarray(choices)
    lengths = np.zeros(choices.shape[1], dtype=int)
    finished = np.zeros(choices.shape[1], dtype=bool)
    for chosen in choices:
        lengths += ~finished
        finished |= chosen == end_id
    return lengths, finished


def generate_one(model, prompt, max_new_tokens, end_id, rng):
    ids, new = [int(i) for i in prompt], []
    while len(new) < max_new_tokens and len(ids) < model.context_length:
        row = model.next_logits([ids])[0]
        if rng is None:
            token = int(row.argmax())
        else:
            p = np.exp(row - row.max())
            token = int(rng.choice(len(p), p=p / p.sum()))
        ids.append(token)
        new.append(token)
        if token == end_id:
            return new, True
    return new, False


def generate_batch(model, prompts, max_new_tokens, end_id, rngs=None):
    rngs = [None] * len(prompts) if rngs is None else rngs
    runs = [generate_one(model, p, max_new_tokens, end_id, rng) for p, rng in zip(prompts, rngs)]
    return [new for new, _ in runs], [len(new) for new, _ in runs], [done for _, done in runs]
