"""An inner recursive function that carries the tokens along."""

import numpy as np


def generate(model, prompt, max_new_tokens, end_id=None, rng=None, temperature=1.0):
    start = tuple(int(t) for t in prompt)

    def softmax(v):
        v = v - v.max()
        return np.exp(v) / np.exp(v).sum()

    def go(tokens):
        if tokens and end_id is not None and tokens[-1] == end_id:
            return list(tokens), "stop"
        if len(tokens) == max_new_tokens:
            return list(tokens), "length"
        if len(start) + len(tokens) == model.context_length:
            return list(tokens), "context"
        row = model.logits(start + tokens)[-1]
        if rng is None:
            token = min(range(len(row)), key=lambda i: (-row[i], i))
        else:
            if temperature <= 0:
                raise ValueError("temperature <= 0")
            token = rng.choice(model.n_vocab, p=softmax(row / temperature))
        return go((*tokens, int(token)))

    return go(())
