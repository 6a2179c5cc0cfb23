"""Log-probabilities by log-sum-exp, and a result given as a list of two."""

import numpy as np


def logsumexp(v):
    m = np.max(v)
    return m + np.log(np.sum(np.exp(v - m)))


def generate(model, prompt, max_new_tokens, end_id=None, rng=None, temperature=1.0):
    greedy = rng is None
    if not greedy and temperature <= 0:
        raise ValueError("temperature must be positive when sampling")
    context = np.asarray(prompt).copy()
    made = np.zeros(0, dtype=np.int64)
    reason = "length"
    while made.size < max_new_tokens:
        if context.size >= model.context_length:
            reason = "context"
            break
        scores = model.logits(context)[-1]
        if not greedy:
            scores = scores / temperature
        logp = scores - logsumexp(scores)
        if greedy:
            t = np.flatnonzero(logp == logp.max())[0]
        else:
            p = np.exp(logp)
            t = rng.choice(p.size, p=p / p.sum())
        made = np.concatenate([made, [t]])
        context = np.concatenate([context, [t]])
        if end_id is not None and t == end_id:
            reason = "stop"
            break
    return [made, reason]
