"""No end token is turned into one that cannot come up, and the loop is written with while-else."""

import numpy as np


def next_distribution(model, prefix, temperature):
    logits = model.logits(prefix)[-1] / temperature
    unnormalised = np.exp(logits - max(logits))
    return unnormalised / sum(unnormalised)


def generate(model, prompt, max_new_tokens, end_id=None, rng=None, temperature=1.0):
    end = -1 if end_id is None else end_id
    if rng is None:
        temperature = 1
    elif temperature <= 0 and max_new_tokens:
        raise ValueError(f"temperature={temperature}")
    tokens = []
    while len(tokens) < max_new_tokens and len(prompt) + len(tokens) < model.context_length:
        p = next_distribution(model, [*prompt, *tokens], temperature)
        if rng is None:
            token = p.tolist().index(max(p))
        else:
            token = rng.choice(model.n_vocab, 1, p=p)[0]
        tokens += [token]
        if token == end:
            reason = "stop"
            break
    else:
        reason = "length" if len(tokens) == max_new_tokens else "context"
    return (tokens, reason)
