"""Checks of `cached_attention`: `attention_values`, `_causal`, `_alignment` and `_stable`.

Each looks where the others' slips make no difference: values at the last of n = T queries, which any mask
lets read everything; masks by which positions are read, whatever their shares.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from course.checks.cache_reuse.attention_cases import (
    Array,
    Inputs,
    attend,
    causal,
    close,
    drawn,
    play,
    show_array,
    show_row,
    unchanged,
)
from course.checks.cache_reuse.attention_slips import (
    CHANGES,
    MASK_TOO_LATE,
    NOT_A_NUMBER,
    UNSTABLE,
    mask_slip,
    square_slip,
    value_slip,
)
from course.checks.candidate import Candidate
from course.checks.check import CheckFailure
from course.checks.failures import RaisedError, Slip, failure_of, faults
from course.checks.sections import REUSE

SEEN = 1e-9  # a larger share, or a larger change, means that a position was read


def _value_cases(rng: np.random.Generator) -> Iterator[Inputs]:
    by_hand = np.array([[0.0, 0.0, 0.0, 0.0], [np.log(3), 0.0, 0.0, 0.0]])
    query = np.array([[2.0, 0.0, 0.0, 0.0]])
    yield Inputs(query.repeat(2, axis=0), by_hand, np.array([[4.0, 0, 0, 0], [0, 4, 0, 0]]))
    yield Inputs(np.array([[1.0], [2.0], [1.0]]), np.log([[1.0], [3.0], [6.0]]), np.eye(3)[:, :1] + 1)
    for T, d in ((3, 4), (5, 3), (4, 8), (9, 16)):  # noqa: N806
        yield drawn(rng, T, T, d)


def attention_values(candidate: Candidate, rng: np.random.Generator) -> None:
    """Scores divided by the square root of d_head, softmax, mix: the last row of n = T. Arguments stay."""
    for inputs in _value_cases(rng):
        answer, call = play(candidate, inputs)
        expected = attend(inputs)[-1]
        if not close(answer[-1], expected):
            general = Slip(None, "Your attention gives other numbers for the last query.", REUSE)
            slip = value_slip(inputs, answer[-1]) or general
            raise failure_of(slip, inputs.show(), *show_row(expected[None], answer[-1:], len(answer) - 1))
        if not unchanged(call, inputs):
            raise failure_of(CHANGES, inputs.show(), "the arguments as they were", "other numbers in them")


def attention_causal(candidate: Candidate, rng: np.random.Generator) -> None:
    """With n = T no query reads a later position: keys and values behind it change nothing."""
    for T, d in ((3, 4), (6, 2)):  # noqa: N806
        inputs = drawn(rng, T, T, d)
        before, _ = play(candidate, inputs)
        for first in range(1, T):
            later = np.arange(T)[:, None] >= first
            for name, changed in (
                ("values", replace(inputs, values=inputs.values + later)),
                ("keys", replace(inputs, keys=inputs.keys + later)),
            ):
                after, _ = play(candidate, changed)
                if not close(after[:first], before[:first]):
                    raise _reads_later(candidate, inputs, first, name, before, after)
        # What reads nothing at all is causal too, and proves nothing.
        after, _ = play(candidate, replace(inputs, values=inputs.values + (np.arange(T)[:, None] < 1)))
        if not np.abs(after[-1] - before[-1]).max() > SEEN:
            slip = Slip(None, "The last query does not read the first position, which it may.", REUSE)
            slip = slip if np.isfinite(before[-1]).all() else NOT_A_NUMBER
            raise failure_of(slip, inputs.show(), "a last row that depends on values[0]", "one that does not")


def _reads_later(
    candidate: Candidate, inputs: Inputs, first: int, name: str, before: Array, after: Array
) -> CheckFailure:
    row = next(i for i in range(first) if not close(after[i], before[i]))
    general = Slip(None, "A query reads positions later than its own.", REUSE)
    T = len(inputs.keys)  # noqa: N806
    read = _positions_read(candidate, T, T)
    slip = general if read is None else mask_slip(read) or general
    if read is not None and np.array_equal(read, causal(T, T)):
        slip = MASK_TOO_LATE
    return failure_of(
        slip,
        f"{inputs.show()}, and again with other {name} from position {first} on",
        f"row {row} the same in both",
        f"{show_array(before[row])} and {show_array(after[row])}",
    )


def _identity(n: int, T: int) -> Inputs:  # noqa: N803
    """Inputs whose answer is the shares themselves, (n, T): all scores moderate and different."""
    numbers = np.sin(np.arange(1, (n + T) * T + 1)).reshape(n + T, T).round(1)
    return Inputs(numbers[:n], numbers[n:], np.eye(T))


def _positions_read(candidate: Candidate, n: int, T: int) -> NDArray[np.bool_] | None:  # noqa: N803
    """Which positions each query has a share of, (n, T); None where the function does not get so far."""
    try:
        answer, _ = play(candidate, _identity(n, T))
    except CheckFailure:
        return None
    return np.asarray(np.nan_to_num(answer) > SEEN)


def attention_alignment(candidate: Candidate, rng: np.random.Generator) -> None:
    """With n < T query i reads up to and including T - n + i, so 3 + 2 + 1 positions give what 6 give."""
    for n, T in ((1, 3), (2, 3), (2, 5), (4, 6)):  # noqa: N806
        inputs = _identity(n, T)
        try:
            shares, _ = play(candidate, inputs)
        except RaisedError as raised:
            slip = square_slip(raised)
            raise (raised.explained(slip) if slip else raised) from raised.error
        read = np.nan_to_num(shares) > SEEN
        if not np.array_equal(read, causal(n, T)):
            wrong = next(i for i in range(n) if not np.array_equal(read[i], causal(n, T)[i]))
            named = _named(candidate, read)
            seen = np.flatnonzero(read[wrong]).tolist()
            expected = f"query {wrong} reads positions {list(range(T - n + wrong + 1))}"
            got = f"it reads {seen}" if seen else "it reads none"
            raise failure_of(named, f"{inputs.show()}, n = {n}, T = {T}", expected, got)
    whole = drawn(rng, 6, 6, 4)
    at_once, _ = play(candidate, whole)
    for start, end in pairwise((0, 3, 5, 6)):
        part, _ = play(candidate, whole.last(end - start, end))
        if not np.allclose(part, at_once[start:end], rtol=1e-5, atol=1e-5, equal_nan=True):
            sentence = (
                "Your attention gives other answers when the positions come in parts of 3, 2 and 1 than when "
                "they come at once. What a query reads is the same in both."
            )
            case = f"{whole.last(end - start, end).show()}, the queries of positions {start} to {end - 1}"
            at_once_row, part_row = show_row(at_once[start:end], part)
            raise failure_of(Slip(None, sentence, REUSE), case, f"{at_once_row}, as at once", part_row)


def _named(candidate: Candidate, read: NDArray[np.bool_]) -> Slip:
    general = Slip(None, "A query stands at position T - n + i, and reads up to and including it.", REUSE)
    if len(read) < 3:  # several slips look the same with one query or two
        more = _positions_read(candidate, 3, 5)
        read = read if more is None else more
    return mask_slip(read) or general


def _stable_cases(rng: np.random.Generator) -> Iterator[tuple[Inputs, Inputs]]:
    """Inputs of large scores, and the same with small ones. Whole numbers and d = 4: no rounding there."""
    values = rng.integers(-4, 5, (5, 4)).astype(float)
    keys = np.column_stack([np.full(5, 1000.0), rng.integers(-2, 3, (5, 3))])
    queries = np.column_stack([np.zeros(5), rng.integers(-1, 2, (5, 3)) * 2.0])
    for offsets in ((2000, 2000, 2000, 2000, 2000), (-2000,) * 5, (-2000, 0, 2000, -1000, 1500)):
        large = queries + np.outer(offsets, [1.0, 0, 0, 0])
        yield Inputs(large, keys, values), Inputs(queries, keys, values)
        yield Inputs(large[3:], keys, values), Inputs(queries[3:], keys, values)
    rising = np.column_stack([np.arange(-1000.0, 1001.0, 500.0), rng.integers(-2, 3, (5, 3))])
    steep = queries + np.array([2000.0, 0, 0, 0])
    yield Inputs(steep, rising, values), Inputs(queries, rising, values)


def attention_stable(candidate: Candidate, rng: np.random.Generator) -> None:
    """Scores up to 1e6 in size: right shares and no warning. What is wrong with small ones is not judged."""
    _dominated(candidate, rng)
    for large, small in _stable_cases(rng):
        try:
            answer, call = play(candidate, small)
        except CheckFailure:
            continue
        right = close(answer, attend(small))
        known = set(faults(call.warnings))
        _stable(candidate, large, attend(large) if right else None, known)


def _stable(candidate: Candidate, inputs: Inputs, expected: Array | None, known: set[str]) -> None:
    """One case. `expected` is the answer, (n, d), or the last rows of it.

    Without it only the warnings are judged that are not `known` from small scores.
    """
    size = np.abs(inputs.queries @ inputs.keys.T / 2).max()
    case = f"{inputs.show()}, scores up to {size:.0e} in size"
    try:
        answer, call = play(candidate, inputs)
    except RaisedError as raised:
        raise raised.explained(UNSTABLE) from raised.error
    new = sorted({fault for fault in faults(call.warnings) if fault not in known})
    judged = answer if expected is None else answer[-len(expected) :]
    if new or (expected is not None and not close(judged, expected)):
        first = len(answer) - len(judged)
        wanted, got = ("", "an answer") if expected is None else show_row(expected, judged, first)
        raise failure_of(UNSTABLE, case, f"{wanted or 'an answer'}, with no warning", ", ".join([got, *new]))


def _dominated(candidate: Candidate, rng: np.random.Generator) -> None:
    """One position has all of the share: the last row is its value, whatever the mask or the scale."""
    keys = np.array([[1000.0, 0, 0, 0], [-1000, 2, 0, 0], [-999, 0, 1, 0], [-1000, 1, 1, 0]])
    values = rng.integers(1, 9, (4, 4)).astype(float)
    queries = np.array([[2000.0, 1, 1, 0]] * 4)
    try:
        known = set(faults(play(candidate, Inputs(queries / 1e6, keys, values))[1].warnings))
    except CheckFailure:
        known = set()
    _stable(candidate, Inputs(queries, keys, values), values[:1], known)
