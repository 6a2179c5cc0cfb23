"""Inputs for the chain rule: one call, how it is played, and when two logarithms agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from course.checks.candidate import Call, Candidate, StudentError
from course.checks.check import CheckFailure
from course.checks.failures import RaisedError, Slip, failure_of, is_missing
from course.checks.models import Prefix, Rows, Script, ScriptedModel
from course.checks.sections import COMBINE
from course.checks.values import UnreadableError, as_number, as_numbers, show_tokens

TOKENS = "token_log_probabilities"
SEQUENCE = "sequence_log_probability"

CONTEXT = 4_096  # longer than any sequence in a check
MOST_CALLS = 5_000  # a pass a token is allowed twice over, for 2,000 tokens
RETURNS = {TOKENS: "an array with one number a token", SEQUENCE: "one number"}
SCALES = {"natural": 1.0, "base 2": 1 / np.log(2), "base 10": 1 / np.log(10), "negated": -1.0}

Numbers = NDArray[np.float64]


class BigramScript:
    """Logits that depend on the last token only.

    table : logits (V, V), a row for each last token.
    """

    def __init__(self, table: ArrayLike) -> None:
        self._table = np.asarray(table, dtype=np.float64)

    @property
    def n_vocab(self) -> int:
        """Number of vocabulary entries, V."""
        return len(self._table)

    def rows(self, prefix: Prefix) -> Rows:
        """See `Script.rows`."""
        return np.array(self._table[list(prefix)])


class PositionScript:
    """Logits that depend on the position only.

    first : logits (n, V) of the first n positions.
    otherwise : logits (V,) of every later one.
    """

    def __init__(self, first: ArrayLike, otherwise: ArrayLike) -> None:
        self._first = np.asarray(first, dtype=np.float64)
        self._otherwise = np.asarray(otherwise, dtype=np.float64)

    @property
    def n_vocab(self) -> int:
        """Number of vocabulary entries, V."""
        return self._otherwise.size

    def rows(self, prefix: Prefix) -> Rows:
        """See `Script.rows`."""
        rows = np.tile(self._otherwise, (len(prefix), 1))
        rows[: len(self._first)] = self._first[: len(prefix)]
        return rows


@dataclass(frozen=True)
class Case:
    """Arguments of one call of either function.

    prompt, continuation : token ids; handed over as arrays where `as_arrays`.
    temperature : None leaves the argument out.
    """

    script: Script
    prompt: Sequence[int]
    continuation: Sequence[int]
    temperature: float | None = None
    as_arrays: bool = False

    @property
    def sequence(self) -> Prefix:
        """Prompt and continuation."""
        return (*self.prompt, *self.continuation)

    def show(self, function: str) -> str:
        """The call as a student would write it."""
        shown = [show_tokens(ids) for ids in (self.prompt, self.continuation)]
        if self.as_arrays:
            shown = [f"np.array({ids})" for ids in shown]
        if self.temperature is not None:
            shown.append(f"temperature={self.temperature:g}")
        return f"{function}(model, {', '.join(shown)}) with model.n_vocab = {self.script.n_vocab}"


@dataclass(frozen=True)
class Run:
    """What came of playing a case, read into plain values.

    values : the entries, float64 (n,); a sequence's value stands alone in it.
    """

    function: str
    case: Case
    values: Numbers
    call: Call
    model: ScriptedModel = field(repr=False)

    @property
    def value(self) -> float:
        """The sequence's value."""
        return float(self.values[0])


def play(candidate: Candidate, function: str, case: Case, unreadable: Slip | None = None) -> Run:
    """Call one of the student's two functions on a case.

    unreadable : why its result can't be read, where that is known beforehand.

    Raises RaisedError where it raised, another CheckFailure where its result can't be read.
    """
    model = ScriptedModel(case.script, CONTEXT, MOST_CALLS)
    handed = [np.array(ids, dtype=int) if case.as_arrays else list(ids) for ids in _ids(case)]
    keywords = {} if case.temperature is None else {"temperature": case.temperature}
    try:
        call = candidate.call(function, model, *handed, **keywords)
    except StudentError as error:
        missing = f"This check calls `{function}`, which is not defined in your notebook."
        sentence = missing if is_missing(error) else ""
        raise RaisedError(case.show(function), error, RETURNS[function], sentence, COMBINE) from error
    try:
        result = call.result
        values = np.array([as_number(result)]) if function == SEQUENCE else as_numbers(result)
    except UnreadableError as error:
        slip = unreadable or Slip(None, f"`{function}` must return {RETURNS[function]}.", COMBINE)
        shape = f"an array of shape ({len(case.continuation)},)" if function == TOKENS else "one number"
        raise failure_of(slip, case.show(function), shape, str(error)) from None
    return Run(function, case, values, call, model)


def _ids(case: Case) -> tuple[Sequence[int], Sequence[int]]:
    return case.prompt, case.continuation


def failure(slip: Slip, run: Run, expected: str, got: str = "", model: str = "") -> CheckFailure:
    """What a check raises once it knows the slip."""
    return failure_of(slip, run.case.show(run.function), expected, got or show_numbers(run.values), model)


def agree(values: Numbers, expected: Numbers, size: float = 0.0) -> bool:
    """Whether all entries agree to 1e-9, and to the rounding of logits of that size."""
    slack = 1e-12 + 1e-15 * size
    if values.shape != expected.shape:
        return False
    with np.errstate(invalid="ignore"):
        return bool(np.all(np.abs(values - expected) <= 1e-9 * np.abs(expected) + slack))


def scale_of(values: Numbers, expected: Numbers, size: float = 0.0) -> str | None:
    """The unit in which all entries agree: natural logarithms, another base, or with the sign turned."""
    for name, scale in SCALES.items():
        if agree(values, expected * scale, size):
            return name
    return None


def show_numbers(values: Numbers, most: int = 6) -> str:
    """Numbers as a student would print them, one alone without brackets."""
    shown = [f"{value:.6g}" for value in values[:most].tolist()]
    if values.size > most:
        return f"[{', '.join(shown)}, ...] ({values.size} numbers)"
    return shown[0] if values.size == 1 else f"[{', '.join(shown)}]"
