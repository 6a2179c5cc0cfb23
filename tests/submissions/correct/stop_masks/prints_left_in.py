"""Prints and a warning left in from debugging."""

import warnings

import numpy as np


def account(choices, end_id):
    print("choices", choices, "end", end_id)
    n = np.zeros(choices.shape[1], int)
    f = np.zeros(choices.shape[1], bool)
    for t in range(choices.shape[0]):
        for b in range(choices.shape[1]):
            if not f[b]:
                n[b] = n[b] + 1
                if choices[t, b] == end_id:
                    f[b] = True
        print("after round", t, n, f)
    return n, f


def generate_batch(model, prompts, max_new_tokens, end_id, rngs=None):
    warnings.warn("still debugging", stacklevel=2)
    current = []
    for p in prompts:
        current.append(list(p))
    out = [[] for _ in prompts]
    stopped = [False] * len(prompts)
    for t in range(max_new_tokens):
        todo = []
        for b in range(len(prompts)):
            if stopped[b]:
                continue
            if len(current[b]) >= model.context_length:
                continue
            todo.append(b)
        print("round", t, "todo", todo)
        if len(todo) == 0:
            break
        logits = model.next_logits([current[b] for b in todo])
        print(logits.shape)
        for i in range(len(todo)):
            b = todo[i]
            if rngs is None:
                token = int(np.argmax(logits[i]))
            else:
                probs = np.exp(logits[i] - np.max(logits[i]))
                probs = probs / np.sum(probs)
                token = int(rngs[b].choice(len(probs), p=probs))
            current[b].append(token)
            out[b].append(token)
            if token == end_id:
                stopped[b] = True
    return out, [len(o) for o in out], stopped
