"""Which slip wrong continuations of a batch come from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from course.checks.check import CheckFailure
from course.checks.failures import IDENTITY, Slip
from course.checks.inputs import LAST_SHARED
from course.checks.reference import draw, probabilities
from course.checks.sections import DIFFERENT_TIMES, LIMITS, READ, STOPPING_STATE
from course.checks.stop_masks.cases import Case, Run, TokenRows, batch_case

Play = Callable[[Case], Run]
PickRng = Callable[[int, int], int]


def tokens_slip(run: Run, again: Play) -> Slip:
    """The slip behind wrong greedy continuations; `again` plays another case with the same function."""
    alone, end = run.case.alone(), run.case.end_id
    slip = _end_slip(run, alone, end)
    if slip is not None:
        return slip
    cut = run.until_end(alone)
    beyond = [got[len(row) :] for got, row in zip(run.tokens, cut, strict=True)]
    if cut == alone and any(beyond):
        return _beyond_slip(run, alone, beyond, again)
    return _short_slip(run, alone) or _other_slip(run, alone)


def _end_slip(run: Run, alone: TokenRows, end: int) -> Slip | None:
    """End tokens that are dropped or replaced, with nothing else wrong."""
    pairs = [(got, row) for got, row in zip(run.tokens, alone, strict=True) if got != row]
    if not all(row[-1:] == [end] for _, row in pairs):
        return None
    if all(got == row[:-1] for got, row in pairs):
        sentence = (
            "Your loop drops the end token: it is a selected token like the others, so it stands in its row."
        )
        return Slip("B4", sentence, STOPPING_STATE)
    if all(got[: len(row) - 1] == row[:-1] and end not in got for got, row in pairs) and all(
        len(set(got[len(row) - 1 :])) == 1 for got, row in pairs
    ):
        sentence = (
            "Your loop puts another value in the place of the end token. The token that was selected stays."
        )
        return Slip("B4", sentence, STOPPING_STATE)
    return None


def _beyond_slip(run: Run, alone: TokenRows, beyond: TokenRows, again: Play) -> Slip:
    """Rows that are right, and have something behind their end token."""
    fillers = {token for row in beyond for token in row}
    if len(set(map(len, run.tokens))) == 1 and (fillers == {run.case.end_id} or len(fillers) == 1):
        sentence = (
            "Your rows are filled up to one length. The continuations stay ragged: a row ends with its end "
            "token."
        )
        return Slip(None, sentence, STOPPING_STATE)
    if run.case.end_id == 0:
        sentence = (
            "Your loop goes on after end token 0: in Python 0 counts as false, so compare with `==` and no "
            "more."
        )
        return Slip("G15", sentence, LIMITS)
    if run.case.end_id > LAST_SHARED:
        sentence = f"Your loop goes on after a large end id, and stops at small ones. {IDENTITY}"
        return Slip(None, sentence, LIMITS)
    everyone = all(len(batch) == len(alone) for batch in run.batches)
    if len(run.batches) <= max(map(len, alone)) or not everyone:
        return Slip("B5", f"In your loop {RESUMES}", STOPPING_STATE)
    together = batch_case(np.random.default_rng(0), [2, 2], 5)
    try:
        stops = len(again(together).batches) == 2
    except CheckFailure:
        stops = False
    if stops:
        sentence = (
            "Your loop stops only when all rows select the end token in the same round. Rows end in "
            "different rounds: remember which ones have finished."
        )
        return Slip("B2", sentence, DIFFERENT_TIMES)
    sentence = (
        "Your loop never stops before the budget is used up: it extends rows that have finished, and goes on "
        "when all of them have."
    )
    return Slip("B3", sentence, DIFFERENT_TIMES)


RESUMES = (
    "a finished row is extended again. A row has finished if it selected the end token in any round so far: "
    "a flag that is True stays True."
)


def _short_slip(run: Run, alone: TokenRows) -> Slip | None:
    """Rows that are right as far as they go."""
    if not all(got == row[: len(got)] for got, row in zip(run.tokens, alone, strict=True)):
        return None
    ended = [len(row) for row in alone if row[-1:] == [run.case.end_id]]
    longest = max(map(len, run.tokens))
    if ended and longest == min(ended) < max(map(len, alone)):
        sentence = "The first row that finishes stops all of them. Each row goes on until its own end."
        return Slip("B1", sentence, DIFFERENT_TIMES)
    if any(run.case.end_id in prompt for prompt in run.case.prompts) and not all(run.tokens):
        sentence = (
            "An end token inside a prompt finishes your row. Only one that the loop selects itself does."
        )
        return Slip("G13", sentence, LIMITS)
    if longest == run.case.max_new_tokens - 1:
        return Slip("G3", "Your loop makes one round too few: `max_new_tokens` rounds are asked for.", LIMITS)
    return Slip(None, "Your loop stops a row before its end.", STOPPING_STATE)


def _other_slip(run: Run, alone: TokenRows) -> Slip:
    tokens = run.tokens
    if all(got[: len(prompt)] == list(prompt) for got, prompt in zip(tokens, run.case.prompts, strict=True)):
        return Slip(None, "Your rows contain the prompts: only the new tokens are asked for.", STOPPING_STATE)
    if len(tokens) > 1 and sorted(tokens) == sorted(alone):
        return Slip(None, "Your rows come back in another order than the prompts.", STOPPING_STATE)
    if any(len(got) > run.case.max_new_tokens for got in tokens):
        sentence = "Your loop makes more than `max_new_tokens` rounds."
        return Slip("G3", sentence, LIMITS)
    if _first_rounds(tokens, alone):
        sentence = (
            "Your rows are mixed up once one of them has finished. Row i of the scores belongs to the i-th "
            "row that goes on, not to row i of the batch."
        )
        return Slip(None, sentence, STOPPING_STATE)
    return Slip(None, "Your loop selects other tokens than each row's own greedy run does.", READ)


def _first_rounds(tokens: Sequence[Sequence[int]], alone: TokenRows) -> bool:
    """Whether all rows agree until the first of them ends, and no longer."""
    first = min(map(len, alone))
    return first > 0 and all(got[:first] == row[:first] for got, row in zip(tokens, alone, strict=True))


SHARED = Slip(
    "B8",
    "Your rows share one generator, so what a row draws depends on its batch-mates. Row b draws from "
    "rngs[b], and from nothing else.",
    STOPPING_STATE,
)
MISPLACED = Slip(
    "B8",
    "Your rows change generators once one of them has finished: the i-th row that goes on is not row i of "
    "the batch. Row b draws from rngs[b] in every round.",
    STOPPING_STATE,
)
RESEEDED = Slip(
    "G10",
    "Your loop starts its random numbers anew: the same numbers come again. Use the generators that are "
    "passed in, as they are.",
    READ,
)


def with_wrong_generators(case: Case, seeds: Sequence[int]) -> Iterator[tuple[Slip, TokenRows]]:
    """Known slips, each with the rows that it gives."""
    last = len(seeds) - 1
    reverse = Slip("B8", "Your rows draw from the generators in reverse order.", STOPPING_STATE)
    picks: tuple[tuple[Slip, PickRng], ...] = (
        (MISPLACED, lambda b, i: i),
        (SHARED, lambda b, i: 0),
        (SHARED, lambda b, i: last),
        (reverse, lambda b, i: last - b),
    )
    for slip, pick in picks:
        yield slip, _simulated(case, seeds, pick)


def _simulated(case: Case, seeds: Sequence[int], pick: PickRng) -> TokenRows:
    """The batch where row `b`, the i-th that goes on, draws from generator `pick(b, i)`."""
    generators = [np.random.default_rng(seed) for seed in seeds]
    rows: TokenRows = [[] for _ in case.prompts]
    for _ in range(case.max_new_tokens):
        going = [
            b for b, (p, row) in enumerate(zip(case.prompts, rows, strict=True)) if case.end_id not in row
        ]
        for i, b in enumerate(going):
            logits = case.script.rows((*case.prompts[b], *rows[b]))[-1]
            rows[b].append(draw(probabilities(logits), generators[pick(b, i)]))
    return rows
