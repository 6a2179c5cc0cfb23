"""generate_batch was never written."""

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
