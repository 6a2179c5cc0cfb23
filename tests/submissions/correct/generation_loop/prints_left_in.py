"""Prints and a warning left in from debugging."""

import sys
import warnings

import numpy as np


def generate(model, prompt, max_new_tokens, end_id=None, rng=None, temperature=1.0):
    print("prompt", prompt, "budget", max_new_tokens)
    warnings.warn("still debugging", stacklevel=2)
    if rng is not None:
        if temperature <= 0 and max_new_tokens > 0:
            raise ValueError("temperature <= 0")
    result = []
    current = list(prompt)
    for step in range(max_new_tokens):
        if len(current) >= model.context_length:
            print("context is full")
            return result, "context"
        all_logits = model.logits(current)
        print(step, all_logits.shape, file=sys.stderr)
        last_logits = all_logits[len(current) - 1]
        if rng is None:
            next_token = int(np.argmax(last_logits))
        else:
            last_logits = last_logits / temperature
            last_logits -= np.max(last_logits)
            probs = np.exp(last_logits)
            probs /= probs.sum()
            next_token = int(rng.choice(len(probs), p=probs))
        print("->", next_token)
        result.append(next_token)
        current.append(next_token)
        if end_id is not None:
            if next_token == end_id:
                return result, "stop"
    return result, "length"
