"""The round's tokens as an array, all compared with the end token."""

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
    rows = [np.array(p) for p in prompts]
    new = [[] for _ in prompts]
    for _ in range(max_new_tokens if len(rows) else 0):
        live = [b for b in range(len(rows)) if rows[b].size < model.context_length]
        if len(live) == 0:
            break
        logits = model.next_logits([rows[b] for b in live])
        if rngs is None:
            tokens = logits.argmax(axis=1)
        else:
            p = np.exp(logits - logits.max(axis=1, keepdims=True))
            p /= p.sum(axis=1, keepdims=True)
            tokens = np.array([rngs[b].choice(p.shape[1], p=p[i]) for i, b in enumerate(live)])
        for b, token in zip(live, tokens):
            rows[b] = np.append(rows[b], token)
            new[b].append(int(token))
        if (tokens == end_id).all():
            break
    finished = np.array([end_id in t for t in new], dtype=bool)
    return new, np.array([len(t) for t in new], dtype=int), finished
