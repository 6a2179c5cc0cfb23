"""Takes the largest score of the whole batch off each row."""

# misconception: None
# fails first: own_generators
# fails: own_generators

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
    prefixes = [[int(token_id) for token_id in prompt] for prompt in prompts]
    continuations = [[] for _ in prefixes]
    finished = [False] * len(prefixes)
    for _ in range(max_new_tokens):
        going = [b for b, p in enumerate(prefixes) if not finished[b] and len(p) < model.context_length]
        if not going:
            break
        scores = model.next_logits([prefixes[b] for b in going])
        for b, row in zip(going, scores):
            if rngs is None:
                token_id = int(np.argmax(row))
            else:
                probabilities = np.exp(row - scores.max())
                probabilities /= probabilities.sum()
                token_id = int(rngs[b].choice(model.n_vocab, p=probabilities))
            prefixes[b].append(token_id)
            continuations[b].append(token_id)
            finished[b] = token_id == end_id
    lengths = [len(tokens) for tokens in continuations]
    return continuations, lengths, finished
