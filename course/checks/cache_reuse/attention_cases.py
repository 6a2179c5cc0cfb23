"""Inputs for attention over cached keys: arrays, how a call is played, and how it is shown to the student.

Shapes: n queries, T positions, `d` stands for d_head.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from course.checks.candidate import Call, Candidate, StudentError
from course.checks.check import CheckFailure
from course.checks.failures import RaisedError
from course.checks.sections import REUSE
from course.checks.values import UnreadableError, as_matrix

Array = NDArray[np.float64]

MOST_PRINTED = 12  # numbers; a larger array is shown by its shape
CLOSE = 1e-9  # relative, as the contract says
NEARLY_ZERO = 1e-12


@dataclass(frozen=True)
class Inputs:
    """Arguments of one call: queries (n, d), keys (T, d), values (T, d)."""

    queries: Array
    keys: Array
    values: Array

    @property
    def shape(self) -> tuple[int, int]:
        """Of the answer, (n, d)."""
        return len(self.queries), self.keys.shape[1]

    def last(self, n: int, end: int | None = None) -> Inputs:
        """The pass that reads the last `n` of the first `end` positions; the queries must be all T."""
        end = len(self.keys) if end is None else end
        return Inputs(self.queries[end - n : end], self.keys[:end], self.values[:end])

    def show(self) -> str:
        """The call as a student would write it; large arrays by their shapes."""
        named = {"queries": self.queries, "keys": self.keys, "values": self.values}
        if max(array.size for array in named.values()) <= MOST_PRINTED:
            parts = [f"{name}={show_array(array)}" for name, array in named.items()]
            return f"cached_attention({', '.join(parts)})"
        parts = [f"{name} {array.shape}" for name, array in named.items()]
        return f"cached_attention(queries, keys, values) with arrays of the shapes {', '.join(parts)}"


def drawn(rng: np.random.Generator, n: int, T: int, d: int) -> Inputs:  # noqa: N803 (the field's letter)
    """Random inputs of moderate scores, so that every position that is read has a share worth seeing.

    One digit behind the point, so that what a message shows is exactly what was used.
    """
    queries, keys, values = (rng.normal(size=(rows, d)).round(1) for rows in (n, T, T))
    return Inputs(queries, keys, values)


def causal(n: int, T: int, shift: int = 0) -> NDArray[np.bool_]:  # noqa: N803
    """Which positions each query may read, (n, T): up to its own, T - n + i, and `shift` more."""
    return np.tri(n, T, T - n + shift, dtype=bool)


def attend(inputs: Inputs, visible: NDArray[np.bool_] | None = None, scale: float | None = None) -> Array:
    """The right answer (n, d), or that of a slip: another mask (n, T), another factor on the scores.

    A query that may read nothing gets NaN.
    """
    n, d = inputs.shape
    visible = causal(n, len(inputs.keys)) if visible is None else visible
    scores = inputs.queries @ inputs.keys.T * (1 / math.sqrt(d) if scale is None else scale)  # (n, T)
    scores = np.where(visible, scores, -np.inf)
    top = scores.max(axis=1, keepdims=True)
    shares = np.exp(scores - np.where(np.isfinite(top), top, 0.0))
    total = shares.sum(axis=1, keepdims=True)
    answer: Array = np.where(total > 0, shares / np.where(total > 0, total, 1.0), np.nan) @ inputs.values
    return answer


def close(one: Array, two: Array) -> bool:
    """Whether two answers agree; NaN agrees with NaN. Shapes are the same already."""
    size = np.abs(two[np.isfinite(two)])
    floor = NEARLY_ZERO * max(1.0, float(size.max(initial=0.0)))
    return bool(np.allclose(one, two, rtol=CLOSE, atol=floor, equal_nan=True))


def play(candidate: Candidate, inputs: Inputs) -> tuple[Array, Call]:
    """Call the student's `cached_attention`; its answer, float64 (n, d), and the call.

    Raises RaisedError where the function raised, another CheckFailure where the answer has another shape.
    """
    wanted = f"an array of shape (n, d_head) = {inputs.shape}"
    try:
        call = candidate.call(
            "cached_attention", inputs.queries.copy(), inputs.keys.copy(), inputs.values.copy()
        )
    except StudentError as error:
        raise RaisedError(inputs.show(), error, wanted) from error
    try:
        return as_matrix(call.result, inputs.shape), call
    except UnreadableError as error:
        raise CheckFailure(
            "`cached_attention` must return one row of d_head numbers for each query.",
            case=inputs.show(),
            expected=wanted,
            got=str(error),
            section=REUSE,
        ) from None


def unchanged(call: Call, inputs: Inputs) -> bool:
    """Whether the arguments are after the call what they were before."""
    before = (inputs.queries, inputs.keys, inputs.values)
    return all(
        np.array_equal(np.asarray(now), then) for now, then in zip(call.arguments, before, strict=True)
    )


def show_array(array: Array, digits: int = 6) -> str:
    """Numbers as a student would write them, in few digits."""
    return str(np.round(array, digits).tolist())


def show_row(expected: Array, got: Array, first: int = 0) -> tuple[str, str]:
    """The first row in which two answers (n, d) differ, of each, in as many digits as that takes.

    first : number of the first row.
    """
    row = next((i for i in range(len(got)) if not close(got[i], expected[i])), len(got) - 1)
    digits = 6 if show_array(expected[row]) != show_array(got[row]) else 12
    name = f"row {first + row} is"
    return f"{name} {show_array(expected[row], digits)}", f"{name} {show_array(got[row], digits)}"
