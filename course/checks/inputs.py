"""Inputs that several challenges share, and how they are shown."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from course.checks.models import ScheduleScript, Script

ROOMY = 256  # a context length that no check of something else comes near
MOST_DRAWN = 6  # rows of a larger vocabulary are not printed
LAST_SHARED = 256  # up to here Python has one object for each integer, and `is` compares them as `==` does


def show_rows(script: Script, prefix: Sequence[int]) -> str:
    """The rows of one pass, where they are few enough to read."""
    if len(prefix) > 3 or script.n_vocab > MOST_DRAWN:
        return ""
    rows = np.round(script.rows(tuple(prefix)), 2).tolist()
    return f"logits({list(prefix)}) gives {rows}"


def scheduled(n_vocab: int, favourites: Sequence[int], start: int, otherwise: int) -> ScheduleScript:
    """A model that favours `favourites` one after the other once `start` tokens are read.

    At any other length it favours `otherwise`. The favourite leads by 4, so its share is about 50 times
    that of each other token.
    """
    lead = 4.0 * np.eye(n_vocab)
    by_length = {start + step: lead[token] for step, token in enumerate(favourites)}
    return ScheduleScript(by_length, lead[otherwise])


def distinct_ids(rng: np.random.Generator, n_vocab: int, count: int) -> list[int]:
    """A prompt of `count` different tokens, so that no slip hides behind a repeated one."""
    return [int(token) for token in rng.choice(n_vocab, count, replace=False)]


def distinct_seeds(rng: np.random.Generator, count: int) -> list[int]:
    """Seeds of generators whose first number is not so small that a draw looks like greedy selection."""
    seeds = distinct_ids(rng, 10_000, 8 * count)
    return [seed for seed in seeds if np.random.default_rng(seed).random() > 0.2][:count]


def count_of(count: int) -> str:
    """A number of tokens in words."""
    return "1 token" if count == 1 else f"{count} tokens"
