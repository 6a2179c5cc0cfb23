"""Flags kept as 0 and 1, states in a dictionary."""

import numpy as np


def account(choices, end_id):
    B = np.asarray(choices).shape[1]
    state = {b: [0, 0] for b in range(B)}
    for chosen in np.asarray(choices):
        for b in range(B):
            if state[b][1] == 0:
                state[b][0] += 1
                state[b][1] = int(chosen[b] == end_id)
    return np.array([s[0] for s in state.values()], dtype=int), np.array(
        [s[1] for s in state.values()], dtype=bool
    )


def generate_batch(model, prompts, max_new_tokens, end_id, rngs=None):
    state = [{"ids": [int(i) for i in p], "new": [], "finished": 0} for p in prompts]
    for _ in range(max_new_tokens):
        live = [
            s for s in enumerate(state) if not s[1]["finished"] and len(s[1]["ids"]) != model.context_length
        ]
        if len(live) == 0:
            break
        scores = model.next_logits([s["ids"] for _, s in live])
        for (b, s), z in zip(live, scores):
            if rngs is None:
                token = np.argmax(z)
            else:
                p = np.exp(z - z.max())
                token = rngs[b].choice(np.arange(model.n_vocab), p=p / p.sum())
            s["ids"].append(token)
            s["new"].append(token)
            if token == end_id:
                s["finished"] = 1
    return [s["new"] for s in state], [len(s["new"]) for s in state], [bool(s["finished"]) for s in state]
