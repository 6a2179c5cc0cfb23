"""Checks of the bookkeeping alone: `account_lengths` and `account_finished`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from course.checks.candidate import Candidate, StudentError
from course.checks.check import CheckFailure
from course.checks.failures import RaisedError, Slip, failure_of, is_missing
from course.checks.inputs import distinct_ids
from course.checks.reference import account
from course.checks.sections import STOPPING_STATE
from course.checks.stop_masks.cases import ACCOUNT
from course.checks.values import UnreadableError, as_counts, as_flags, as_pair

PAIR = "the pair (lengths, finished)"
Choices = NDArray[np.int64]


def _tables(rng: np.random.Generator) -> Iterator[tuple[Choices, int]]:
    """Choices (rounds, B) with the end token among them."""
    yield np.array([[2, 1], [0, 3], [4, 0]]), 0  # the lesson's
    end, one, two, three = (token + 1 for token in distinct_ids(rng, 8, 4))
    yield np.array([[one], [end], [two]]), end
    yield np.array([[one, two], [two, three]]), end  # no row ends
    yield np.array([[one, end], [two, one], [end, end], [one, two]]), end  # it comes again
    yield np.array([[end, one, two], [end, two, end], [two, 0, one]]), end
    yield np.zeros((0, 3), dtype=np.int64), end
    yield np.array([[end, one, two, end]]), end
    for _ in range(4):
        rounds, rows = int(rng.integers(2, 9)), int(rng.integers(1, 7))
        yield rng.integers(0, 4, size=(rounds, rows)), int(rng.integers(0, 4))


def _show(choices: Choices, end_id: int) -> str:
    table = f"np.array({choices.tolist()})" if choices.size else f"np.zeros({choices.shape}, dtype=int)"
    return f"account({table}, end_id={end_id})"


def _play(candidate: Candidate, choices: Choices, end_id: int, part: int) -> list[Any]:
    """Part 0, the lengths, or part 1, the flags, of what the student's function returns."""
    shown = _show(choices, end_id)
    try:
        call = candidate.call(ACCOUNT, choices.copy(), end_id)
    except StudentError as error:
        sentence = ""
        if is_missing(error):
            sentence = f"This check calls `{ACCOUNT}`, which is not defined in your notebook."
        elif not len(choices):
            sentence = "There may be no rounds at all. B, the number of rows, is choices.shape[1] then, too."
        raise RaisedError(shown, error, PAIR, sentence, STOPPING_STATE) from error
    if part == 0 and not np.array_equal(np.asarray(call.arguments[0]), choices):
        sentence = "Your function changes the caller's choices. Work on a copy, like np.array(choices)."
        slip = Slip("G5", sentence, STOPPING_STATE)
        raise failure_of(slip, shown, "choices are as they were after the call", "they have changed")
    rows = choices.shape[1]
    try:
        found = as_pair(call.result, PAIR)[part]
        return as_flags(found, "finished", rows) if part else as_counts(found, "lengths", rows)
    except UnreadableError as error:
        sentence = "`account` must return two things, the lengths and the finished flags, one a row each."
        slip = Slip(None, sentence, STOPPING_STATE)
        raise failure_of(slip, shown, f"(lengths, finished) of {rows} rows", str(error)) from None


def account_lengths(candidate: Candidate, rng: np.random.Generator) -> None:
    """Tokens a row, up to and including its first end token. Only the lengths."""
    for choices, end_id in _tables(rng):
        expected, _ = account(choices, end_id)
        got = _play(candidate, choices, end_id, 0)
        if got != expected:
            raise _failure(_lengths_slip(choices, end_id, got), choices, end_id, expected, got)


def account_finished(candidate: Candidate, rng: np.random.Generator) -> None:
    """Which rows met the end token, in any round. Only the flags."""
    for choices, end_id in _tables(rng):
        _, expected = account(choices, end_id)
        got = _play(candidate, choices, end_id, 1)
        if got != expected:
            raise _failure(_finished_slip(choices, end_id, got), choices, end_id, expected, got)


def _failure(
    slip: Slip, choices: Choices, end_id: int, expected: Sequence[object], got: Sequence[object]
) -> CheckFailure:
    return failure_of(slip, _show(choices, end_id), str(list(expected)), str(list(got)))


def _known_lengths(choices: Choices, end_id: int) -> Iterator[tuple[str | None, str, list[int]]]:
    """Slips in the lengths: id, sentence, and the lengths that each gives."""
    right, met = account(choices, end_id)
    rounds, columns = len(choices), choices.T.tolist()
    yield (
        "B6",
        "Your lengths leave out the end token. A row has that token too: count a round for every row that is "
        "still going, and mark the finished ones afterwards.",
        [n - done for n, done in zip(right, met, strict=True)],
    )
    yield (
        "B6",
        "Your lengths are one too many where a row has met the end token: the round after it counts no more.",
        [n + done for n, done in zip(right, met, strict=True)],
    )
    yield (
        "B6",
        "A row that never meets the end token has a token for every round; your lengths say otherwise.",
        [n if done else 0 for n, done in zip(right, met, strict=True)],
    )
    yield (
        "B6",
        "A row that never meets the end token has a token for every round; your lengths say 1. `argmax` "
        "gives 0 where nothing is True, too.",
        [n if done else min(1, rounds) for n, done in zip(right, met, strict=True)],
    )
    yield (
        "B5",
        "Your lengths go on after the end token: what is supplied for a finished row is ignored.",
        [rounds] * len(right),
    )
    yield (
        "B5",
        "Your lengths reach to the last end token of a row. Its first one ends it, and a second is ignored.",
        [rounds - c[::-1].index(end_id) if end_id in c else rounds for c in columns],
    )
    yield (
        "B5",
        "A finished row comes back to life in your lengths: a row is finished once it met the end token in "
        "any round so far, not in this round only.",
        [
            sum(t == 0 or token_before != end_id for t, token_before in enumerate([None, *column][:rounds]))
            for column in columns
        ],
    )
    first = min(right) if any(met) else rounds
    yield (
        "B1",
        "The first row that finishes stops the counting of all of them. Each row goes on until its own end.",
        [first] * len(right),
    )


def _lengths_slip(choices: Choices, end_id: int, got: list[int]) -> Slip:
    if end_id and got == account(choices, 0)[0]:
        sentence = "Your function takes 0 for the end token, whatever `end_id` is."
        return Slip(None, sentence, STOPPING_STATE)
    for misconception, sentence, values in _known_lengths(choices, end_id):
        if got == values:
            return Slip(misconception, sentence, STOPPING_STATE)
    sentence = "Your lengths do not count each row's tokens up to and including its first end token."
    return Slip(None, sentence, STOPPING_STATE)


def _finished_slip(choices: Choices, end_id: int, got: list[bool]) -> Slip:
    lengths, met = account(choices, end_id)
    rounds = len(choices)
    if got == [rounds > 0] * len(met) or (got == [True] * len(met) and not all(met)):
        sentence = (
            "Your flags call every row finished. A row that came to the last round without the end token was "
            "truncated: it is not finished."
        )
        return Slip("B7", sentence, STOPPING_STATE)
    if got == (choices[-1] == end_id).tolist() if rounds else False:
        sentence = (
            "Your flags tell of the last round only. A row is finished if it met the end token in any "
            "round: a flag that is True stays True."
        )
        return Slip("B5", sentence, STOPPING_STATE)
    if got == [n < rounds for n in lengths]:
        sentence = (
            "A row that meets the end token in the very last round is finished as well. Its length alone "
            "does not tell."
        )
        return Slip("B7", sentence, STOPPING_STATE)
    if got == [not flag for flag in met]:
        sentence = "Your flags are turned around: True is for the rows that met the end token."
        return Slip(None, sentence, STOPPING_STATE)
    return Slip(None, "Your flags do not say which rows met the end token.", STOPPING_STATE)
