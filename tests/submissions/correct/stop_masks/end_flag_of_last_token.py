"""Finished is read off the last token of each row."""

import numpy as np


def account(choices, end_id):
    choices = np.asarray(choices)
    rounds, B = choices.shape
    padded = np.vstack([choices, np.full((1, B), end_id)])
    first = (padded == end_id).argmax(axis=0)
    finished = first < rounds
    return np.minimum(first + 1, rounds), finished


def generate_batch(model, prompts, max_new_tokens, end_id, rngs=None):
    new = [[] for _ in prompts]

    def ended(b):
        return len(new[b]) > 0 and new[b][-1] == end_id

    def full(b):
        return len(prompts[b]) + len(new[b]) >= model.context_length

    step = 0
    while step < max_new_tokens:
        live = [b for b in range(len(prompts)) if not ended(b) and not full(b)]
        if not live:
            return new, [len(t) for t in new], [ended(b) for b in range(len(new))]
        out = model.next_logits([[*prompts[b], *new[b]] for b in live])
        for row, b in zip(out, live):
            if rngs is None:
                new[b].append(int(np.flatnonzero(row == row.max())[0]))
                continue
            p = np.exp(row - np.logaddexp.reduce(row))
            new[b].append(int(rngs[b].choice(model.n_vocab, p=p / p.sum())))
        step += 1
    return new, [len(t) for t in new], [ended(b) for b in range(len(new))]
