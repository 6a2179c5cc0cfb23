"""Small classes hold the mask and the run."""

import numpy as np


class Attention:
    def __init__(self, d_head):
        self.scale = 1.0 / np.sqrt(d_head)

    def mask(self, n, T):
        return np.array([[j <= T - n + i for j in range(T)] for i in range(n)])

    def __call__(self, q, k, v):
        s = (q * self.scale) @ k.T
        s = np.ma.masked_array(s, ~self.mask(*s.shape))
        s = s - s.max(axis=1, keepdims=True)
        p = np.exp(s.filled(-np.inf))
        return p / p.sum(axis=1, keepdims=True) @ v


def cached_attention(queries, keys, values):
    return Attention(queries.shape[1])(queries, keys, values)


class Run:
    def __init__(self, model, prompt, cache):
        self.model = model
        self.prompt = list(prompt)
        self.cache = cache if cache is not None else model.new_cache()
        self.new = []

    def reuse(self):
        kept = 0
        for old, wanted in zip(self.cache.token_ids, self.prompt):
            if old != wanted:
                break
            kept += 1
        self.cache.crop(min(kept, len(self.prompt) - 1))

    @property
    def prefix(self):
        return self.prompt + self.new

    def step(self):
        unread = self.prefix[self.cache.length :]
        self.new.append(int(np.argmax(self.model.logits(unread, cache=self.cache)[-1])))
        return self.new[-1]

    def may_go_on(self, budget):
        return len(self.new) < budget and len(self.prefix) < self.model.context_length


def generate_with_cache(model, prompt, max_new_tokens, end_id=None, cache=None):
    run = Run(model, prompt, cache)
    run.reuse()
    while run.may_go_on(max_new_tokens):
        if run.step() == end_id:
            break
    return run.new, run.cache
