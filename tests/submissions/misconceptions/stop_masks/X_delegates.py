"""Hands the work to a method that the model does not have."""

# misconception: None
# fails first: tokens
# fails: tokens, lengths, finished, only_live_rows, own_generators, edges

import numpy as np


def account(choices, end_id):
    choices = np.asarray(choices)
    lengths = np.zeros(choices.shape[1], dtype=int)
    finished = np.zeros(choices.shape[1], dtype=bool)
    for chosen in choices:
        lengths += ~finished
        finished |= chosen == end_id
    return lengths, finished


def generate_batch(model, prompts, max_new_tokens, end_id, rngs=None):
    batch = model.generate_batch(prompts, max_new_tokens, end_id=end_id, seeds=rngs)
    return batch.continuations, batch.lengths, batch.finished
