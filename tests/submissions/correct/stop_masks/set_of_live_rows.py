"""A set of live rows, sorted each round."""

import numpy as np


def account(choices, end_id):
    lengths, finished = [], []
    for b in range(np.shape(choices)[1]):
        n, done = 0, False
        for chosen in choices:
            if done:
                break
            n += 1
            done = bool(chosen[b] == end_id)
        lengths.append(n)
        finished.append(done)
    return lengths, finished


def generate_batch(model, prompts, max_new_tokens, end_id, rngs=None):
    ids = {b: [int(i) for i in prompt] for b, prompt in enumerate(prompts)}
    start = {b: len(row) for b, row in ids.items()}
    done = set()
    rounds = 0
    live = {b for b in ids if len(ids[b]) < model.context_length}
    while live and rounds < max_new_tokens:
        order = sorted(live)
        scores = model.next_logits([ids[b] for b in order])
        for b, z in zip(order, scores):
            if rngs is None:
                token = int(z.argmax())
            else:
                w = np.exp(z - z.max())
                token = int(np.searchsorted(np.cumsum(w / w.sum()), rngs[b].random(), side="right"))
            ids[b].append(token)
            if token == end_id:
                done.add(b)
                live.discard(b)
            elif len(ids[b]) == model.context_length:
                live.discard(b)
        rounds += 1
    continuations = [ids[b][start[b] :] for b in range(len(prompts))]
    return continuations, [len(c) for c in continuations], [b in done for b in range(len(prompts))]
