"""A draw by walking along the probabilities in plain Python, and math in place of NumPy."""

import math


def pick(probabilities, u):
    total = 0.0
    for i, p in enumerate(probabilities):
        total += p
        if u < total:
            return i
    return max(i for i, p in enumerate(probabilities) if p > 0)


def generate(model, prompt, max_new_tokens, end_id=None, rng=None, temperature=1.0):
    ids = []
    for t in prompt:
        ids.append(int(t))
    out = []
    if max_new_tokens > 0 and rng is not None:
        if temperature <= 0:
            raise ValueError("temperature must be > 0")
    while len(out) < max_new_tokens:
        if len(ids) + len(out) >= model.context_length:
            return out, "context"
        scores = [float(x) for x in model.logits(ids + out)[-1]]
        if rng is None:
            best = 0
            for i in range(1, len(scores)):
                if scores[i] > scores[best]:
                    best = i
        else:
            top = max(scores)
            weights = [math.exp((s - top) / temperature) for s in scores]
            total = math.fsum(weights)
            best = pick([w / total for w in weights], rng.random())
        out.append(best)
        if best == end_id:
            return out, "stop"
    return out, "length"
