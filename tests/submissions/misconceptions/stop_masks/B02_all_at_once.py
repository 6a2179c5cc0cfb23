"""The loop ends when every row selects the end token in the same round."""

# misconception: B2
# fails first: tokens
# fails: tokens, only_live_rows

import numpy as np


def account(choices, end_id):
    choices = np.asarray(choices)
    lengths = np.zeros(choices.shape[1], dtype=int)
    finished = np.zeros(choices.shape[1], dtype=bool)
    for chosen in choices:
        lengths += ~finished
        finished |= chosen == end_id
    return lengths, finished


def generate_batch(model, prompts, max_new_tokens, end_id, rngs=None):
    prefixes = [list(p) for p in prompts]
    new = [[] for _ in prompts]
    for _ in range(max_new_tokens):
        going = [b for b in range(len(prompts)) if len(prefixes[b]) < model.context_length]
        if not going:
            break
        chosen = []
        for b, row in zip(going, model.next_logits([prefixes[b] for b in going])):
            if rngs is None:
                token = int(row.argmax())
            else:
                p = np.exp(row - row.max())
                token = int(rngs[b].choice(row.size, p=p / p.sum()))
            chosen.append(token)
            prefixes[b].append(token)
            new[b].append(token)
        if all(token == end_id for token in chosen):
            break
    return new, [len(t) for t in new], [end_id in t for t in new]
