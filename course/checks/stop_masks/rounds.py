"""Checks of what the batch selects and asks, round by round: `tokens` and `only_live_rows`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from course.checks.candidate import Candidate
from course.checks.check import CheckFailure
from course.checks.failures import Slip
from course.checks.inputs import LAST_SHARED
from course.checks.models import HistoryScript, Prefix, ScheduleScript
from course.checks.sections import APPEND, DIFFERENT_TIMES, READ, STOPPING_STATE
from course.checks.stop_masks.cases import (
    Case,
    Run,
    TokenRows,
    batch_case,
    failure,
    play,
    require_tokens,
    show_rows_of,
)
from course.checks.stop_masks.diagnosis import tokens_slip
from course.checks.values import UnreadableError, as_tokens, show_tokens


def _token_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield batch_case(rng, [1, 3], 5)
    yield batch_case(rng, [1, 3, None], 5)
    yield batch_case(rng, [2, None, 1, 5], 5, as_arrays=True)
    yield batch_case(rng, [None, None, None], 4)
    yield batch_case(rng, [2, None, 4], 6, end_id=0)
    yield batch_case(rng, [3, None], 5, end_in_prompts=True)
    n_vocab = 40
    prompts = [rng.integers(n_vocab, size=length).tolist() for length in (1, 5, 3, 2, 2, 7)]
    history = HistoryScript(n_vocab, int(rng.integers(2**31)))
    yield Case(history, prompts, 8, history.rows(tuple(prompts[1]))[-1].argmax().item())
    yield batch_case(rng, [2, None], 4, n_vocab=300, end_id=int(rng.integers(LAST_SHARED + 1, 300)))


def tokens(candidate: Candidate, rng: np.random.Generator) -> None:
    """Each row has the tokens of its own greedy run, its end token included; the prompts stay."""
    for case in _token_cases(rng):
        run = play(candidate, case)
        expected = case.alone()
        if run.tokens != expected:
            slip = tokens_slip(run, lambda probe: play(candidate, probe))
            raise failure(slip, run, show_rows_of(expected), show_rows_of(run.tokens))
        _same_prompts(run)
    tied = np.full(6, -1.0)
    tied[[2, 4, 5]] = 1.5
    case = Case(ScheduleScript({}, tied), [[1], [3, 0]], 3, 0)
    run = play(candidate, case)
    if run.tokens != case.alone():
        sentence = "Your loop breaks a tie in another way: among equal scores the lowest id is taken."
        model = "the largest logit is shared by [2, 4, 5] at every step"
        slip = Slip("G16", sentence, READ)
        raise failure(slip, run, show_rows_of(case.alone()), show_rows_of(run.tokens), model)


def _same_prompts(run: Run) -> None:
    after, expected = run.call.arguments[1], [list(prompt) for prompt in run.case.prompts]
    try:
        rows = list(after) if isinstance(after, list | tuple) else [after]
        now = [as_tokens(row) for row in rows]
        same, got = now == expected, show_rows_of(now)
    except UnreadableError as error:
        same, got = False, str(error)
    if not same:
        sentence = (
            "Your function changes the caller's prompts: `append` and `+=` work on the very lists that were "
            "passed in, and list(prompts) copies the outer list only. Copy each prompt."
        )
        slip = Slip("G5", sentence, APPEND)
        raise failure(slip, run, f"prompts are still {show_rows_of(expected)}", f"prompts are {got}")


def _live_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield batch_case(rng, [1, 3], 5)
    yield batch_case(rng, [1, 3, None], 4)
    yield batch_case(rng, [3, 1, 2, 2], 9)
    yield batch_case(rng, [None, 4, 1, 4, 2], 6, as_arrays=True)
    yield batch_case(rng, [1, 1], 5)
    yield batch_case(rng, [2, None], 0)


def only_live_rows(candidate: Candidate, rng: np.random.Generator) -> None:
    """One call of `next_logits` a round, with the rows that go on by what was returned, in order."""
    for case in _live_cases(rng):
        run = play(candidate, case)
        require_tokens(run)
        _judge_batches(run)
    full = batch_case(rng, [None, None], 4, context_length=4, lengths=(3, 1))
    for case in (full, Case(full.script, [], 5, full.end_id)):
        try:
            run = play(candidate, case)
        except CheckFailure:
            continue  # a full context and a batch of no rows are looked at by `edges`
        if list(map(len, run.tokens)) == list(map(len, case.alone())):
            _judge_batches(run)


def _judge_batches(run: Run) -> None:
    expected = _live_batches(run.case, run.until_end(run.case.alone()))
    if run.batches != expected or run.passes:
        slip = _live_slip(run, expected)
        raise failure(slip, run, _show_batches(expected), _show_batches(run.batches, run.passes))


def _live_batches(case: Case, rows: TokenRows) -> list[tuple[Prefix, ...]]:
    """What each round hands over if row b goes on as long as `rows[b]` has tokens."""
    rounds = max(map(len, rows), default=0)
    return [
        tuple(
            (*prompt, *row[:step]) for prompt, row in zip(case.prompts, rows, strict=True) if step < len(row)
        )
        for step in range(rounds)
    ]


def _live_slip(run: Run, expected: Sequence[tuple[Prefix, ...]]) -> Slip:
    got, rounds = run.batches, len(expected)
    if run.passes:
        sentence = (
            "Your loop calls `model.logits` for single rows. One `next_logits` call a round predicts for all "
            "rows that go on."
        )
        return Slip(None, sentence, DIFFERENT_TIMES)
    if len(got) > rounds and got[:rounds] == expected and not any(got[rounds:]):
        sentence = (
            "Your loop calls the model with an empty list once no row goes on. Leave the loop before that."
        )
        return Slip("B3", sentence, STOPPING_STATE)
    if len(got) > rounds and not any(len(batch) < len(run.case.prompts) for batch in got[:rounds]):
        sentence = (
            "Your loop goes on after the last row has finished, and calls the model for nothing. It ends "
            "when no row goes on."
        )
        return Slip("B3", sentence, STOPPING_STATE)
    if sorted(got[0]) == sorted(expected[0]) and got[0] != expected[0] if got and expected else False:
        return Slip(None, "Hand the prefixes over in row order.", STOPPING_STATE)
    if all(len(batch) == 1 for batch in got) and len(run.case.prompts) > 1 and len(got) > rounds:
        sentence = (
            "Your loop calls the model for one row at a time; one call a round has a place for all of them."
        )
        return Slip(None, sentence, DIFFERENT_TIMES)
    for batch, wanted in zip(got, expected, strict=False):
        if len(batch) > len(wanted):
            sentence = (
                "Your loop hands a finished row to the model again. What comes back for it is of no use: "
                "hand over only the rows that go on."
            )
            return Slip("B5", sentence, STOPPING_STATE)
    if len(got) > rounds:
        sentence = "Your loop calls the model more often than there are rounds."
        return Slip("B3", sentence, STOPPING_STATE)
    sentence = "Each round hands over the prefixes of the rows that still go on, in row order, and once."
    return Slip(None, sentence, STOPPING_STATE)


def _show_batches(batches: Sequence[tuple[Prefix, ...]], passes: int = 0) -> str:
    shown = "; ".join(f"[{', '.join(show_tokens(prefix) for prefix in batch)}]" for batch in batches[:4])
    more = "; ..." if len(batches) > 4 else ""
    calls = f"{len(batches)} call" + ("" if len(batches) == 1 else "s")
    extra = f", and {passes} of model.logits" if passes else ""
    return calls + (f" with {shown}{more}" if batches else "") + extra
