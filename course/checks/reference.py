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


def log_probabilities(logits: Row, temperature: float = 1.0) -> Row:
    """Logarithm of the softmax of `logits / temperature`, (..., V) -> (..., V), for logits of any size."""
    shifted = (logits - logits.max(axis=-1, keepdims=True)) / temperature
    logarithms: Row = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return logarithms


def token_log_probabilities(
    script: Script, prompt: Sequence[int], continuation: Sequence[int], temperature: float = 1.0
) -> Row:
    """Challenge 2: log p(continuation[t] | prompt, continuation[:t]) in nats, (len(continuation),)."""
    sequence = (*prompt, *continuation)
    rows = log_probabilities(script.rows(sequence), temperature)  # (T, V)
    before = np.arange(len(prompt) - 1, len(sequence) - 1)  # the row before each token
    return np.asarray(rows[before, list(continuation)] if len(continuation) else np.empty(0))


def account(choices: NDArray[np.int64], end_id: int) -> tuple[list[int], list[bool]]:
    """The first half of challenge 4: lengths and finished flags of the columns of `choices`, (rounds, B)."""
    columns = choices.T.tolist()
    lengths = [column.index(end_id) + 1 if end_id in column else len(column) for column in columns]
    return lengths, [end_id in column for column in columns]
