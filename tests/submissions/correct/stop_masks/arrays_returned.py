"""Continuations as arrays, lengths counted as floats."""

import numpy as np


def account(choices, end_id):
    choices = np.asarray(choices)
    B = choices.shape[1]
    lengths, done = np.zeros(B), np.zeros(B, dtype=bool)
    for round_ in choices:
        lengths += 1 - done
        done = np.logical_or(done, round_ == end_id)
    return lengths.astype(int), done


def generate_batch(model, prompts, max_new_tokens, end_id, rngs=None):
    rows = [np.array(p, dtype=np.int64) for p in prompts]
    starts = np.array([len(row) for row in rows], dtype=int)
    done = np.zeros(len(rows), dtype=bool)
    lengths = np.zeros(len(rows))
    for step in range(max_new_tokens):
        room = starts + lengths < model.context_length
        index = np.where(~done & room)[0]
        if not len(index):
            break
        logits = model.next_logits([rows[b] for b in index])
        if rngs is None:
            chosen = np.argmax(logits, axis=1)
        else:
            w = np.exp(logits - logits.max(axis=1, keepdims=True))
            w = w / w.sum(axis=1, keepdims=True)
            chosen = np.array([rngs[b].choice(w.shape[1], p=q) for b, q in zip(index, w)])
        for b, token in zip(index, chosen):
            rows[b] = np.append(rows[b], token)
        lengths[index] += 1
        done[index] |= chosen == end_id
    return [row[n:] for row, n in zip(rows, starts)], lengths, done
