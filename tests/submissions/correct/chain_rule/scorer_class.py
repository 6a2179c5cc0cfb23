"""A small class that holds the log probabilities of one pass."""

import numpy as np


class Scorer:
    def __init__(self, model, temperature):
        self.model = model
        self.temperature = temperature

    def table(self, ids):
        scaled = np.asarray(self.model.logits(ids)) / self.temperature
        top = np.max(scaled, axis=1)
        return scaled - (top + np.log(np.exp(scaled - top[:, np.newaxis]).sum(axis=1)))[:, np.newaxis]

    def score(self, prompt, continuation):
        if len(continuation) < 1:
            return np.empty(shape=0)
        ids = [*map(int, prompt), *map(int, continuation)]
        table = self.table(ids)
        places = range(len(prompt), len(ids))
        return np.fromiter((table[i - 1][ids[i]] for i in places), dtype=np.float64, count=len(places))


def token_log_probabilities(model, prompt, continuation, temperature=1.0):
    return Scorer(model, temperature).score(prompt, continuation)


def sequence_log_probability(model, prompt, continuation, temperature=1.0):
    return float(np.dot(Scorer(model, temperature).score(prompt, continuation), np.ones(len(continuation))))
