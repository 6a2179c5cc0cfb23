"""Array concatenation, a custom exception derived from ValueError, and in-place work on the logits."""

import numpy as np


class TemperatureError(ValueError):
    pass


def generate(model, prompt, max_new_tokens, end_id=None, rng=None, temperature=1.0):
    if rng is not None and temperature <= 0 and max_new_tokens:
        raise TemperatureError(temperature)
    ids = np.array(prompt)
    new_ids = np.array([], dtype=ids.dtype)
    finish_reason = ""
    while not finish_reason:
        if new_ids.shape[0] == max_new_tokens:
            finish_reason = "length"
            continue
        if ids.shape[0] + new_ids.shape[0] == model.context_length:
            finish_reason = "context"
            continue
        logits = model.logits(np.hstack((ids, new_ids)))
        logits -= logits.max(axis=1, keepdims=True)
        if rng is None:
            token = logits[-1].argmax()
        else:
            logits /= temperature
            p = np.exp(logits)
            p /= p.sum(axis=1, keepdims=True)
            token = rng.choice(model.n_vocab, p=p[-1])
        new_ids = np.hstack((new_ids, token))
        if end_id is not None and token == end_id:
            finish_reason = "stop"
    return new_ids.tolist(), finish_reason
