"""Asks for a full context with `is`, which holds for short ones only."""

# misconception: None
# fails first: context
# fails: context

import numpy as np


def generate(model, prompt, max_new_tokens, end_id=None, rng=None, temperature=1.0):
    prefix = [int(token_id) for token_id in prompt]
    new_token_ids = []
    while True:
        if len(new_token_ids) == max_new_tokens:
            return new_token_ids, "length"
        if len(prefix) is model.context_length:
            return new_token_ids, "context"
        if rng is not None and temperature <= 0:
            raise ValueError("temperature must be above 0")
        logits = model.logits(prefix)[-1]
        if rng is None:
            token_id = int(np.argmax(logits))
        else:
            scores = (logits - logits.max()) / temperature
            probabilities = np.exp(scores)
            probabilities /= probabilities.sum()
            token_id = int(rng.choice(model.n_vocab, p=probabilities))
        prefix.append(token_id)
        new_token_ids.append(token_id)
        if token_id == end_id:
            return new_token_ids, "stop"
