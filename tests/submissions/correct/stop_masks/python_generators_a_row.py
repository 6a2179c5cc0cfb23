"""Each row is a Python generator that is sent its scores."""

import numpy as np


def account(choices, end_id):
    columns = np.asarray(choices).T
    lengths = np.array(
        [next((t + 1 for t, c in enumerate(col) if c == end_id), len(col)) for col in columns], dtype=int
    )
    finished = np.array([any(c == end_id for c in col) for col in columns], dtype=bool)
    return lengths, finished


def row_loop(prefix, new, bound, budget, end_id, rng):
    while len(new) < budget and len(prefix) < bound:
        z = yield list(prefix)
        if rng is None:
            token = int(np.argmax(z))
        else:
            e = np.exp(z - z.max())
            token = int((np.cumsum(e / e.sum()) <= rng.random()).sum())
        prefix.append(token)
        new.append(token)
        if token == end_id:
            return


def generate_batch(model, prompts, max_new_tokens, end_id, rngs=None):
    new = [[] for _ in prompts]
    waiting = []
    for b, prompt in enumerate(prompts):
        rng = None if rngs is None else rngs[b]
        loop = row_loop(list(prompt), new[b], model.context_length, max_new_tokens, end_id, rng)
        first = next(loop, None)
        if first is not None:
            waiting.append((loop, first))
    while waiting:
        scores = model.next_logits([prefix for _, prefix in waiting])
        following = []
        for (loop, _), z in zip(waiting, scores):
            try:
                following.append((loop, loop.send(z)))
            except StopIteration:
                pass
        waiting = following
    finished = [len(row) > 0 and row[-1] == end_id for row in new]
    return new, [len(row) for row in new], finished
