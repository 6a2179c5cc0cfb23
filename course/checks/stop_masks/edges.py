"""The check of the smallest batches, and of rows and budgets without room: `edges`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from course.checks.candidate import Candidate
from course.checks.failures import IDENTITY, RaisedError, Slip, is_missing
from course.checks.inputs import LAST_SHARED
from course.checks.models import ScheduleScript
from course.checks.sections import LIMITS, STOPPING_STATE
from course.checks.stop_masks.cases import Case, Run, batch_case, failure, play, show_rows_of

NO_ROWS = Slip("B9", "A batch of no rows is a batch too: all three results are empty.", STOPPING_STATE)
ONE_ROW = Slip("B9", "A batch of one row is a batch too: its results have one entry each.", STOPPING_STATE)
NO_ROUNDS = Slip("G3", "A budget of 0 asks for no tokens: there are no rounds.", LIMITS)
FULL = Slip(
    "B10",
    "A row whose prefix fills `model.context_length` is truncated: it gets no more tokens, is not handed "
    "over again, and the other rows go on.",
    LIMITS,
)
LONG = Slip(
    None, f"A row goes on after its long context is full, where a short one ends it. {IDENTITY}", LIMITS
)


def edges(candidate: Candidate, rng: np.random.Generator) -> None:
    """No rows, one row, full contexts and no rounds. Only how many tokens there are; no row ends here."""
    nothing: tuple[list[np.random.Generator] | None, ...] = (None, [])
    for rngs in nothing:
        empty = batch_case(rng, [], 5)
        _play(candidate, empty, NO_ROWS, rngs)
    never = ScheduleScript({}, [-80.0, 1.0, 0.5, 0.0])  # no draw selects the end token 0
    drawn = Case(never, [[1, 2]], 3, 0)
    for case, rngs in (
        (batch_case(rng, [None], 3), None),
        (drawn, [np.random.default_rng(int(rng.integers(1000)))]),
    ):
        run = _play(candidate, case, ONE_ROW, rngs)
        if not run.tokens[0]:
            raise failure(ONE_ROW, run, show_rows_of(run.case.alone()), show_rows_of(run.tokens))
    _counts(candidate, batch_case(rng, [None, None], 4, context_length=3, lengths=(3, 1)))
    _counts(candidate, batch_case(rng, [None, None, None], 4, context_length=5, lengths=(1, 4, 2)))
    _counts(candidate, batch_case(rng, [None, None], 4, context_length=2, lengths=(2, 2)))
    bound = LAST_SHARED + 2
    long = batch_case(rng, [None, None], 4, 300, context_length=bound, lengths=(LAST_SHARED, 1))
    _counts(candidate, long, LONG)
    for rows in (2, 1):
        run = _play(candidate, batch_case(rng, [None] * rows, 0), NO_ROUNDS)
        if any(run.tokens):
            raise failure(NO_ROUNDS, run, show_rows_of(run.case.alone()), show_rows_of(run.tokens))


def _play(
    candidate: Candidate, case: Case, slip: Slip, rngs: Sequence[np.random.Generator] | None = None
) -> Run:
    shown = "" if rngs is None else "[]" if not rngs else "[a generator]"
    try:
        run = play(candidate, case, rngs, shown, slip)
    except RaisedError as raised:
        if is_missing(raised.error):
            raise
        raise raised.explained(slip, f"{show_rows_of(case.alone())} for the continuations") from raised.error
    run.lengths(slip)  # they must be there, one a row; what they say is looked at by other checks
    run.finished(slip)
    return run


def _counts(candidate: Candidate, case: Case, slip: Slip = FULL) -> None:
    """Rows with room for fewer tokens than the budget get exactly those, and the others more."""
    run = _play(candidate, case, slip)
    rooms = [case.context_length - len(prompt) for prompt in case.prompts]
    least = min(rooms)
    for tokens, told, room in zip(run.tokens, run.lengths(slip), rooms, strict=True):
        # A row that is filled up to the length of the others has other checks.
        short = room < case.max_new_tokens
        if room not in (len(tokens), told) if short else len(tokens) <= least:
            raise failure(slip, run, show_rows_of(case.alone()), show_rows_of(run.tokens))
