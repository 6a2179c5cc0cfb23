"""The right answers: a reference loop, and the pieces that wrong loops are put together from in diagnoses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from course.checks.models import Prefix, Rows, Script

FinishReason = Literal["stop", "length", "context"]
Row = NDArray[np.float64]
Choose = Callable[[Rows], int]
Extend = Callable[[Prefix, int], Prefix]


def probabilities(logits: Row, temperature: float = 1.0) -> Row:
    """Softmax of `logits / temperature`, (..., V) -> (..., V), for logits of any finite size."""
    shifted = (logits - logits.max(axis=-1, keepdims=True)) / temperature
    weights = np.exp(shifted)
    shares: Row = weights / weights.sum(axis=-1, keepdims=True)
    return shares


def draw(shares: Row, rng: np.random.Generator) -> int:
    """One draw from the probabilities (V,): one uniform number against their cumulative sum."""
    return int(rng.choice(shares.size, p=shares))


def greedy(rows: Rows) -> int:
    """The largest logit of the last row, the lowest id on a tie."""
    return int(rows[-1].argmax())


def sampler(rng: np.random.Generator, temperature: float = 1.0) -> Choose:
    """A selection that draws from the last row's distribution."""
    return lambda rows: draw(probabilities(rows[-1], temperature), rng)


def append(prefix: Prefix, token: int) -> Prefix:
    """The next prefix."""
    return (*prefix, token)


def continuation(
    script: Script, prompt: Sequence[int], steps: int, choose: Choose, extend: Extend = append
) -> list[int]:
    """The tokens of a run of `steps` steps with nothing to end it sooner.

    A wrong `choose` may select what is no id; the run then ends with it.
    """
    prefix = tuple(prompt)
    tokens: list[int] = []
    while len(tokens) < steps and all(0 <= token < script.n_vocab for token in tokens[-1:]):
        tokens.append(choose(script.rows(prefix)))
        prefix = extend(prefix, tokens[-1])
    return tokens


def generate(
    script: Script,
    context_length: int,
    prompt: Sequence[int],
    max_new_tokens: int,
    end_id: int | None = None,
    choose: Choose = greedy,
) -> tuple[list[int], FinishReason]:
    """The whole contract of challenge 1: new tokens, end token included, and why the run ended."""
    tokens: list[int] = []
    while True:
        if len(tokens) == max_new_tokens:
            return tokens, "length"
        if len(prompt) + len(tokens) == context_length:
            return tokens, "context"
        tokens.append(choose(script.rows((*prompt, *tokens))))
        if tokens[-1] == end_id:
            return tokens, "stop"
