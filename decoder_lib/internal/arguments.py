"""Checks of what a caller passes in. Each error names the argument, its value and what is allowed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decoder_lib.errors import ContextOverflowError

TokenIds = Sequence[int] | NDArray[np.integer]  # one prefix
TokenRows = Sequence[TokenIds] | NDArray[np.integer]  # several, of any lengths
Seed = int | np.random.Generator | None
Seeds = Sequence[Seed] | Literal[0] | None  # one per prompt, or the same for all of them


def as_token_ids(name: str, token_ids: ArrayLike, n_vocab: int) -> NDArray[np.int64]:
    """`token_ids` as an int64 array of shape (T,), T possibly 0.

    Raises ValueError where it is not one-dimensional, or holds anything but integers of the vocabulary.
    """
    try:
        array = np.asarray(token_ids)
    except ValueError as error:  # a nesting that no rectangle holds
        raise ValueError(f"{name} is ragged; it must be one sequence of token ids, like [0, 1, 2]") from error
    if array.ndim != 1:
        raise ValueError(
            f"{name} has {array.ndim} dimensions; it must be one sequence of token ids, like [0, 1, 2]"
        )
    if not array.size:
        return np.empty(0, dtype=np.int64)  # an empty list has no integer dtype of its own
    if array.dtype.kind not in "iu":
        raise ValueError(f"{name} holds {array.dtype} values; token ids are integers from 0 to {n_vocab - 1}")
    outside = np.flatnonzero((array < 0) | (array >= n_vocab))
    if outside.size:
        first = int(outside[0])
        raise ValueError(
            f"{name}[{first}] is {array[first]}; token ids of this vocabulary go from 0 to {n_vocab - 1}"
        )
    return array.astype(np.int64)


def as_prompt(name: str, token_ids: ArrayLike, n_vocab: int) -> NDArray[np.int64]:
    """As `as_token_ids`, but at least one token: a pass has to read something before it can predict."""
    ids = as_token_ids(name, token_ids, n_vocab)
    if not ids.size:
        raise ValueError(f"{name} is empty; it must hold at least one token id")
    return ids


def as_padded_rows(name: str, rows: TokenRows, n_vocab: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """B prompts as one array, int64 (B, longest), padded with zeros at the end; and their lengths, (B,).

    Raises as `as_prompt` does, naming the prompt.
    """
    if isinstance(rows, np.ndarray) and rows.ndim == 2 and rows.size:  # many at once
        ids = as_token_ids(name, rows.ravel(), n_vocab).reshape(rows.shape)
        return ids, np.full(len(ids), ids[0].size)
    prompts = _usual_prompts(rows, n_vocab)
    if prompts is None:  # one by one, which names what is wrong
        prompts = [as_prompt(f"{name}[{b}]", row, n_vocab) for b, row in enumerate(rows)]
    lengths = np.array([prompt.size for prompt in prompts], dtype=np.int64)  # (B,)
    padded = np.zeros((len(prompts), lengths.max(initial=0)), dtype=np.int64)  # (B, n)
    for b, prompt in enumerate(prompts):
        padded[b, : prompt.size] = prompt
    return padded, lengths


def _usual_prompts(rows: TokenRows, n_vocab: int) -> list[NDArray[np.int64]] | None:
    """The prompts as arrays, checked all at once, since each batched pass asks; None where one is wrong."""
    try:
        prompts = [np.asarray(row) for row in rows]
    except ValueError:  # a nesting that no rectangle holds
        return None
    if not all(prompt.ndim == 1 and prompt.size and prompt.dtype.kind in "iu" for prompt in prompts):
        return None
    ids = np.concatenate([[0], *prompts])
    return prompts if ids.min() >= 0 and ids.max() < n_vocab else None


def check_integer(name: str, value: object, low: int, high: int | None = None) -> int:
    """`value` as an int; ValueError where it is not an integer from `low` to `high`."""
    allowed = f"an integer of at least {low}" if high is None else f"an integer from {low} to {high}"
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
        raise ValueError(f"{name} is {value!r}; it must be {allowed}")
    if value < low or (high is not None and value > high):
        raise ValueError(f"{name} is {value}; it must be {allowed}")
    return int(value)


def check_number(name: str, value: object, above: float, high: float = math.inf) -> float:
    """`value` as a float; ValueError where it is not a finite number with above < value <= high."""
    allowed = f"a finite number above {above:g}" + ("" if math.isinf(high) else f" and at most {high:g}")
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.integer | np.floating):
        raise ValueError(f"{name} is {value!r}; it must be {allowed}")
    try:
        number = float(value)
    except OverflowError:  # a Python integer has no largest value
        number = math.inf
    if not (math.isfinite(number) and above < number <= high):
        raise ValueError(f"{name} is {number}; it must be {allowed}")
    return number


def check_switch(name: str, value: object) -> bool:
    """`value` as a bool; ValueError where it is anything else."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} is {value!r}; it must be True or False")
    return bool(value)


def as_generator(name: str, seed: Seed) -> np.random.Generator:
    """The generator itself, a new one made from a seed, or one from fresh entropy where `seed` is None."""
    if isinstance(seed, np.random.Generator):
        return seed
    if seed is None:
        return np.random.default_rng()
    if isinstance(seed, bool | np.bool_) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ValueError(
            f"{name} is {seed!r}; it must be an integer of at least 0, a numpy.random.Generator or None"
        )
    return np.random.default_rng(int(seed))


def as_generators(name: str, seeds: Seeds, count: int) -> list[np.random.Generator]:
    """`count` generators, each as `as_generator` makes it; 0 and None stand for as many of themselves.

    Raises ValueError where `seeds` is anything else but a sequence of `count` entries.
    """
    if seeds is None or (type(seeds) is int and seeds == 0):
        seeds = [seeds] * count
    if not isinstance(seeds, Sequence | np.ndarray):
        raise ValueError(f"{name} is {seeds!r}; it must have one entry a prompt, {count}")
    if len(seeds) != count:
        raise ValueError(f"{name} has {len(seeds)} entries; it must have one a prompt, {count}")
    return [as_generator(f"{name}[{b}]", seed) for b, seed in enumerate(seeds)]


def check_limits(
    max_new_tokens: object, end_id: object, context_length: object, n_vocab: int, longest: int
) -> int:
    """What ends a run, checked; returns the context bound, by default the `longest` that the model reads.

    Raises ValueError where `max_new_tokens` is not an integer of at least 0, `end_id` neither None nor an id
    of the vocabulary, or `context_length` neither None nor an integer from 1 to `longest`.
    """
    check_integer("max_new_tokens", max_new_tokens, 0)
    if end_id is not None:
        check_integer("end_id", end_id, 0, n_vocab - 1)
    return as_context_bound(context_length, longest)


def as_context_bound(context_length: object, longest: int) -> int:
    """The context bound in positions: `context_length`, from 1 to `longest`, which is also the default."""
    return longest if context_length is None else check_integer("context_length", context_length, 1, longest)


def check_fits(name: str, prompt: NDArray[np.int64], bound: int, remedy: str = "") -> None:
    """Raise ContextOverflowError where a prompt is longer than the context bound."""
    if prompt.size > bound:
        raise ContextOverflowError(f"{name} has {prompt.size} tokens; the context bound is {bound}{remedy}")


def check_room(lengths: NDArray[np.int64], held: NDArray[np.int64], room: int, context_length: int) -> None:
    """Raise ContextOverflowError where `lengths` (B,) tokens behind the `held` ones need more than `room`."""
    ends = held + lengths  # (B,)
    if ends.max() > room:
        worst = int(np.argmax(ends))
        behind = f" behind the {held[worst]} of the cache" if held[worst] else ""
        reader = "this decoder reads" if room == context_length else "the cache holds"
        raise ContextOverflowError(
            f"prefixes[{worst}] has {lengths[worst]} tokens{behind}; {reader} at most {room}"
        )
