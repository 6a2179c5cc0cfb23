"""A full row is extended once more."""

# misconception: B10
# fails first: edges
# fails: edges

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
    prefixes = [[int(token) for token in prompt] for prompt in prompts]
    continuations = [[] for _ in prefixes]
    finished = [False] * len(prefixes)
    for _ in range(max_new_tokens):
        going = [b for b, p in enumerate(prefixes) if not finished[b] and len(p) <= model.context_length]
        if not going:
            break
        scores = model.next_logits([prefixes[b] for b in going])
        for b, row in zip(going, scores):
            if rngs is None:
                token = int(np.argmax(row))
            else:
                p = np.exp(row - row.max())
                token = int(rngs[b].choice(model.n_vocab, p=p / p.sum()))
            prefixes[b].append(token)
            continuations[b].append(token)
            finished[b] = token == end_id
    lengths = [len(tokens) for tokens in continuations]
    return continuations, lengths, finished
