"""Everything in tuples."""

import numpy as np


def account(choices, end_id):
    lengths, finished = [], []
    for column in zip(*np.asarray(choices).tolist()) if len(choices) else [()] * np.shape(choices)[1]:
        if end_id in column:
            lengths.append(column.index(end_id) + 1)
            finished.append(True)
        else:
            lengths.append(len(column))
            finished.append(False)
    return tuple(lengths), tuple(finished)


def generate_batch(model, prompts, max_new_tokens, end_id, rngs=None):
    rows = [tuple(p) for p in prompts]
    finished = [False for _ in rows]
    for _ in range(max_new_tokens):
        live = [b for b in range(len(rows)) if not finished[b]]
        live = [b for b in live if len(rows[b]) < model.context_length]
        if live == []:
            break
        for b, z in zip(live, model.next_logits(tuple(rows[b] for b in live))):
            if rngs is None:
                t = max(range(len(z)), key=lambda i: (z[i], -i))
            else:
                e = np.exp(z - z.max())
                t = rngs[b].choice(model.n_vocab, p=e / e.sum())
            rows[b] = (*rows[b], t)
            finished[b] = t == end_id
    new = tuple(row[len(p) :] for row, p in zip(rows, prompts))
    return new, tuple(map(len, new)), tuple(finished)
