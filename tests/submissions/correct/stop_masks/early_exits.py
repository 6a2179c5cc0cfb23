"""Returns on its own for no rows and no rounds; counts down the rows that go on."""

import numpy as np


def account(choices, end_id):
    choices = np.asarray(choices)
    if choices.shape[0] == 0:
        return [0] * choices.shape[1], [False] * choices.shape[1]
    going = np.ones(choices.shape[1], dtype=bool)
    lengths = np.zeros(choices.shape[1], dtype=int)
    for chosen in choices:
        lengths[going] += 1
        going &= chosen != end_id
    return lengths, ~going


def draw(z, rng):
    if rng is None:
        return int(np.argmax(z))
    shares = np.exp(z - z.max())
    return int(rng.choice(z.shape[0], p=shares / shares.sum()))


def generate_batch(model, prompts, max_new_tokens, end_id, rngs=None):
    if len(prompts) == 0:
        return [], np.zeros(0), np.zeros(0)
    if max_new_tokens == 0:
        return [[] for _ in prompts], [0] * len(prompts), [False] * len(prompts)
    generators = rngs if rngs is not None else [None] * len(prompts)
    prefixes = [np.asarray(p).tolist() for p in prompts]
    new = [[] for _ in prompts]
    truncated = [len(p) >= model.context_length for p in prefixes]
    finished = [False] * len(prompts)
    while True:
        live = [b for b in range(len(prompts)) if not (finished[b] or truncated[b])]
        if not live:
            break
        for b, z in zip(live, model.next_logits([prefixes[b] for b in live])):
            token = draw(z, generators[b])
            prefixes[b].append(token)
            new[b].append(token)
            if token == end_id:
                finished[b] = True
            elif len(new[b]) == max_new_tokens or len(prefixes[b]) >= model.context_length:
                truncated[b] = True
    return new, [len(row) for row in new], finished
