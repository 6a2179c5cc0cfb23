"""A dataclass a row."""

from dataclasses import dataclass, field

import numpy as np


def account(choices, end_id):
    hit = np.asarray(choices) == end_id
    finished = hit.any(axis=0)
    rounds = hit.shape[0]
    before = np.cumsum(hit, axis=0) - hit == 0  # no end token in an earlier round
    lengths = before.sum(axis=0) if rounds else np.zeros(hit.shape[1], dtype=int)
    return lengths, finished


@dataclass
class Row:
    prompt: list
    rng: object = None
    new: list = field(default_factory=list)
    finished: bool = False

    @property
    def prefix(self):
        return self.prompt + self.new

    def goes_on(self, bound):
        return not self.finished and len(self.prefix) < bound

    def take(self, logits, end_id):
        if self.rng is None:
            token = int(np.argmax(logits))
        else:
            e = np.exp(logits - np.max(logits))
            token = int(self.rng.choice(len(e), p=e / np.sum(e)))
        self.new.append(token)
        self.finished = token == end_id


def generate_batch(model, prompts, max_new_tokens, end_id, rngs=None):
    batch = [Row(list(map(int, p))) for p in prompts]
    if rngs is not None:
        for row, rng in zip(batch, rngs):
            row.rng = rng
    for _ in range(max_new_tokens):
        live = [row for row in batch if row.goes_on(model.context_length)]
        if not live:
            break
        for row, logits in zip(live, model.next_logits([row.prefix for row in live])):
            row.take(logits, end_id)
    return (
        [row.new for row in batch],
        np.array([len(row.new) for row in batch]),
        np.array([row.finished for row in batch]),
    )
