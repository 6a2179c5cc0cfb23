"""Checks of what a caller passes in. Each error names the argument, its value and what is allowed."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

TokenIds = Sequence[int] | NDArray[np.integer]


def as_token_ids(name: str, token_ids: ArrayLike, n_vocab: int) -> NDArray[np.int64]:
    """`token_ids` as an int64 array of shape (T,), T possibly 0.

    Raises ValueError where it is not one-dimensional, or holds other than integers of the vocabulary.
    """
    array = np.asarray(token_ids)
    if array.ndim != 1:
        raise ValueError(
            f"{name} has {array.ndim} dimensions; it must be one sequence of token ids, like [0, 1, 2]"
        )
    if not array.size:
        return np.empty(0, dtype=np.int64)  # an empty list has no integer dtype of its own
    if not np.issubdtype(array.dtype, np.integer):
        raise ValueError(f"{name} holds {array.dtype} values; token ids are integers from 0 to {n_vocab - 1}")
    outside = np.flatnonzero((array < 0) | (array >= n_vocab))
    if outside.size:
        first = int(outside[0])
        raise ValueError(
            f"{name}[{first}] is {array[first]}; token ids of this vocabulary go from 0 to {n_vocab - 1}"
        )
    return array.astype(np.int64)


def as_prompt(name: str, token_ids: ArrayLike, n_vocab: int) -> NDArray[np.int64]:
    """As `as_token_ids`, and at least one token: a pass has to read something before it can predict."""
    ids = as_token_ids(name, token_ids, n_vocab)
    if not ids.size:
        raise ValueError(f"{name} is empty; it must hold at least one token id")
    return ids


def check_integer(name: str, value: object, low: int, high: int | None = None) -> int:
    """`value` as an int, or ValueError where it is no integer or lies outside low..high."""
    allowed = f"an integer of at least {low}" if high is None else f"an integer from {low} to {high}"
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
        raise ValueError(f"{name} is {value!r}; it must be {allowed}")
    if value < low or (high is not None and value > high):
        raise ValueError(f"{name} is {value}; it must be {allowed}")
    return int(value)


def check_number(name: str, value: object, above: float, high: float = math.inf) -> float:
    """`value` as a float, or ValueError where it is no finite number with above < value <= high."""
    allowed = f"a finite number above {above:g}" + ("" if math.isinf(high) else f" and at most {high:g}")
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.integer | np.floating):
        raise ValueError(f"{name} is {value!r}; it must be {allowed}")
    if not (math.isfinite(value) and above < value <= high):
        raise ValueError(f"{name} is {value}; it must be {allowed}")
    return float(value)
