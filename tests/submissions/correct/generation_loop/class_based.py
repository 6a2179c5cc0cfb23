"""A small class that holds the run."""

import numpy as np


class Sampler:
    def __init__(self, rng, temperature):
        self.rng = rng
        self.temperature = temperature
        if rng is not None and temperature <= 0:
            raise ValueError("temperature must be positive")

    def __call__(self, logits):
        if self.rng is None:
            return np.argmax(logits)
        x = logits / self.temperature
        x = np.exp(x - x.max())
        cdf = (x / x.sum()).cumsum()
        return int((cdf / cdf[-1] <= self.rng.uniform()).sum())


class Run:
    def __init__(self, model, prompt):
        self.model = model
        self.ids = list(prompt)
        self.new = []

    def step(self, sampler):
        token = sampler(self.model.logits(np.array(self.ids))[-1])
        self.ids.append(token)
        self.new.append(token)
        return token


def generate(model, prompt, max_new_tokens, end_id=None, rng=None, temperature=1.0):
    run = Run(model, prompt)
    if max_new_tokens == 0:
        return run.new, "length"
    sampler = Sampler(rng, temperature)
    while len(run.new) != max_new_tokens:
        if len(run.ids) == model.context_length:
            return run.new, "context"
        if run.step(sampler) == end_id:
            return run.new, "stop"
    return run.new, "length"
