"""Checks of how the chain rule computes: `temperature` and `stability`.

All rows of a case agree and all its tokens are equal, so which row scores which token makes no difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from course.checks.candidate import Candidate
from course.checks.chain_rule.cases import (
    SCALES,
    SEQUENCE,
    TOKENS,
    Case,
    PositionScript,
    Run,
    agree,
    failure,
    play,
    scale_of,
    show_numbers,
)
from course.checks.chain_rule.diagnosis import ONE_FOR_ALL, RAW_LOGITS, UNDERFLOW, UNSHIFTED, temperature_slip
from course.checks.failures import RaisedError, Slip, faults
from course.checks.models import ScheduleScript
from course.checks.reference import Row, log_probabilities
from course.checks.sections import COMBINE

LONG = 2_000  # tokens; a product of so many probabilities underflows
SMALLEST = -746.0  # below the logarithm of the smallest float, at which such a product can get stuck


def _case(logits: Row, token: int, count: int, temperature: float | None = None) -> Case:
    return Case(ScheduleScript({}, logits), [token] * 2, [token] * count, temperature)


def _last_entries(run: Run) -> Run:
    """The run with no more entries than the continuation has tokens: how many there are, `rows` looks at."""
    if not run.values.size:
        slip = Slip(None, "Your function returns no entries to compare.", COMBINE)
        raise failure(slip, run, "one entry a token", "none")
    return replace(run, values=run.values[-len(run.case.continuation) :])


def temperature(candidate: Candidate, rng: np.random.Generator) -> None:
    """The softmax of logits / temperature, at 0.5 and 2 and in between. Any number of entries."""
    between = round(float(rng.uniform(0.6, 1.8)), 2)
    for n_vocab, value in ((3, 0.5), (3, 2.0), (30, 0.5), (30, 2.0), (8, between)):
        logits = np.round(rng.normal(0.0, 1.5, n_vocab), 2)
        for token in rng.choice(n_vocab, 3, replace=False).tolist():
            run = _last_entries(play(candidate, TOKENS, _case(logits, token, 3, value)))
            expected = np.full(run.values.shape, log_probabilities(logits, value)[token])
            if not scale_of(run.values, expected):
                general = Slip(
                    None, "Your function does not take the softmax of logits / temperature.", COMBINE
                )
                slip = temperature_slip(logits, value, token, run.values) or general
                model = f"every row is {logits.tolist()}" if n_vocab <= 3 else ""
                raise failure(slip, run, show_numbers(expected), model=model)


def stability(candidate: Candidate, rng: np.random.Generator) -> None:
    """Finite and right, without a warning: logits of ±10,000 and more, any constant added, 2,000 tokens."""
    extreme = rng.permutation([10_000.0, -10_000.0, 0.0])
    plain = np.round(rng.normal(0.0, 1.5, 4), 2)
    likely = np.log([0.6, 0.4])
    for count in (2, LONG):
        _tokens(candidate, likely, 0, count=count)
    for token in range(3):
        _tokens(candidate, extreme, token)
    for constant in (1_000.0, -10_000.0, 1e6):
        for token in (0, 3):
            _tokens(candidate, plain + constant, token, plain)
    _sequence(candidate, likely, 0, LONG, UNDERFLOW)
    for token in range(3):
        _sequence(candidate, extreme, token, 2, UNSHIFTED)
    _sequence(candidate, plain + 10_000.0, 1, 3, UNSHIFTED)
    for token in (0, 3):
        _uneven(candidate, plain, token)


def _tokens(candidate: Candidate, logits: Row, token: int, before: Row | None = None, count: int = 2) -> None:
    """Entries of `count` equal tokens; `before` are the logits without the constant that was added."""
    case = _case(logits, token, count)
    value = float(log_probabilities(logits)[token])
    expected = f"entries of {value:.6g}, with no warning"
    model = f"every row is {logits.tolist()}"
    try:
        run = _last_entries(play(candidate, TOKENS, case))
    except RaisedError as raised:
        if faults(raised.error.warnings) or "FloatingPoint" in raised.error.kind:
            raise raised.explained(UNSHIFTED, expected) from raised.error
        raise
    found = faults(run.call.warnings)
    if found or not scale_of(run.values, np.full(run.values.shape, value), _size(logits)):
        raw = (logits, logits - logits.mean()) if before is None else (logits, before)
        is_raw = any(scale_of(run.values, np.full(run.values.shape, row[token])) for row in raw)
        slip = RAW_LOGITS if is_raw else UNSHIFTED if _broke(run, found) else _inexact(before)
        if count == LONG and agree(run.values[:10], np.full(run.values[:10].shape, value)):
            slip = UNDERFLOW
        raise failure(slip, run, expected, ", ".join([show_numbers(run.values), *found]), model)


def _uneven(candidate: Candidate, logits: Row, token: int) -> None:
    """Rows that differ by a constant each, so all say the same, and none is like the largest of them."""
    constants = [0.0, -10_000.0, 10_000.0, 0.0, -10_000.0, 10_000.0]
    script = PositionScript(logits + np.array(constants)[:, None], logits)
    run = _last_entries(play(candidate, TOKENS, Case(script, [token] * 2, [token] * 4)))
    value = float(log_probabilities(logits)[token])
    found = faults(run.call.warnings)
    if found or not scale_of(run.values, np.full(run.values.shape, value), max(constants)):
        got = ", ".join([show_numbers(run.values), *found])
        model = f"row t is {logits.tolist()} plus a constant of its own, {constants}"
        raise failure(ONE_FOR_ALL, run, f"entries of {value:.6g}, with no warning", got, model)


def _sequence(candidate: Candidate, logits: Row, token: int, count: int, broken: Slip) -> None:
    """The value of `count` equal tokens. Whether it is a sum of exactly those is the business of `sum`."""
    case = _case(logits, token, count)
    value = float(log_probabilities(logits)[token])
    expected = f"{count * value:.6g}, with no warning"
    try:
        run = play(candidate, SEQUENCE, case)
    except RaisedError as raised:
        if faults(raised.error.warnings) or "math domain" in raised.error.message:
            raise raised.explained(broken, expected) from raised.error
        raise
    found = faults(run.call.warnings)
    if found or not _some_sum(run.value, value, _counts(case), _size(logits)):
        stuck = count == LONG and SMALLEST < run.value < 0
        slip = broken if stuck or _broke(run, found) else _inexact(None)
        model = f"every row is {np.round(logits, 4).tolist()}"
        raise failure(slip, run, expected, ", ".join([show_numbers(run.values), *found]), model)


def _some_sum(got: float, value: float, counts: Sequence[int], size: float) -> bool:
    """Whether `got` is a sum of that many equal entries, in some unit; a count of 1 is their mean."""
    return any(
        agree(np.array([got]), np.array([count * value * scale]), count * size)
        for count in counts
        for scale in SCALES.values()
    )


def _counts(case: Case) -> tuple[int, ...]:
    """Numbers of entries that known slips add up, none of them unstable: a mean, a scored prompt."""
    count, length = len(case.continuation), len(case.prompt)
    return count, 1, count - 1, count + 1, count + length - 1, count + length


def _broke(run: Run, found: Sequence[str]) -> bool:
    return bool(found) or not bool(np.all(np.isfinite(run.values)))


def _inexact(before: Row | None) -> Slip:
    if before is not None:
        sentence = "A constant added to all the logits changes your result; it changes no probability."
    else:
        sentence = "Your result is not exact: something is cut off, or added, on the way to the logarithm."
    return Slip(None, sentence, COMBINE)


def _size(logits: Row) -> float:
    return float(np.abs(logits).max())
