"""Finished rows are handed over and draw; the draw is thrown away."""

# misconception: B5
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


def pick(row, rng):
    if rng is None:
        return int(row.argmax())
    p = np.exp(row - row.max())
    return int(rng.choice(len(p), p=p / p.sum()))


def generate_batch(model, prompts, max_new_tokens, end_id, rngs=None):
    B = len(prompts)
    rows = [list(p) for p in prompts]
    new = [[] for _ in range(B)]
    finished = np.zeros(B, dtype=bool)
    lengths = np.zeros(B, dtype=int)
    for step in range(max_new_tokens):
        full = np.array([len(r) >= model.context_length for r in rows], dtype=bool)
        active = np.flatnonzero(~full)
        if active.size == 0 or finished.all():
            break
        logits = model.next_logits([rows[b] for b in active])
        for i in range(len(active)):
            b = active[i]
            token = pick(logits[i], None if rngs is None else rngs[b])
            if finished[b]:
                continue
            rows[b].append(token)
            new[b].append(token)
            lengths[b] += 1
            if token == end_id:
                finished[b] = True
    return new, lengths, finished
