"""Checks of what the batch says about its rows: `lengths` and `finished`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from course.checks.candidate import Candidate
from course.checks.failures import RaisedError, Slip
from course.checks.sections import DIFFERENT_TIMES, STOPPING_STATE
from course.checks.stop_masks.cases import Case, Run, TokenRows, batch_case, failure, play, require_tokens


def _cases(rng: np.random.Generator) -> Iterator[Case]:
    yield batch_case(rng, [2, None], 3)
    yield batch_case(rng, [1, 3, None], 5)
    yield batch_case(rng, [3, 4, 2], 3)  # the end token in the last round, and one round too late
    yield batch_case(rng, [2, 2], 4)
    yield batch_case(rng, [None, 4, None, 1], 4, as_arrays=True)
    yield batch_case(rng, [2, None, 4], 5, end_id=0)
    yield batch_case(rng, [2, None], 3, end_in_prompts=True)
    yield batch_case(rng, [2, None, 1], 0)
    yield batch_case(rng, [None, 2, None], 5, context_length=5)


def _judged(run: Run, alone: TokenRows) -> list[bool]:
    """Rows with tokens, and none behind the end token; what is wrong with others, `tokens` looks at."""
    end = run.case.end_id
    return [bool(own or not row) and end not in own[:-1] for own, row in zip(run.tokens, alone, strict=True)]


def _play(candidate: Candidate, case: Case) -> Run | None:
    """Play a case; None where a full context makes the function raise, which `edges` looks at."""
    try:
        run = play(candidate, case)
    except RaisedError:
        if case.context_length > case.max_new_tokens:
            raise
        return None
    if not any(case.end_id in prompt for prompt in case.prompts):
        require_tokens(run)
    return run


def lengths(candidate: Candidate, rng: np.random.Generator) -> None:
    """The number of tokens in each row, as it was returned or as it should have been."""
    for case in _cases(rng):
        run = _play(candidate, case)
        if run is None:
            continue
        got, alone = run.lengths(), case.alone()
        accepted = [{len(own), len(row)} for own, row in zip(run.tokens, alone, strict=True)]
        judged = _judged(run, alone)
        if any(n not in ok for n, ok, look in zip(got, accepted, judged, strict=True) if look):
            raise failure(_lengths_slip(run, got, alone), run, [len(row) for row in alone], got)


def _lengths_slip(run: Run, got: list[int], alone: TokenRows) -> Slip:
    right = [len(row) for row in alone]
    ended = [row[-1:] == [run.case.end_id] for row in alone]
    off = {n - length for n, length, done in zip(got, right, ended, strict=True) if done}
    rounds = max(right)
    if off == {-1}:
        sentence = "Your lengths leave out the end token: it is one of the row's tokens."
    elif off == {1}:
        sentence = "Your lengths are one too many for the rows that have finished."
    elif got == [n if done else 0 for n, done in zip(right, ended, strict=True)]:
        sentence = "A row that never selects the end token has a length as well: it counts all its tokens."
    elif got in ([rounds] * len(right), [run.case.max_new_tokens] * len(right)):
        sentence = "Your lengths count the rounds of the whole batch; each row has a length of its own."
    elif got == [n + len(prompt) for n, prompt in zip(right, run.case.prompts, strict=True)]:
        return Slip(None, "Your lengths count the prompt: only the new tokens are counted.", STOPPING_STATE)
    else:
        return Slip(None, "Your lengths are not the numbers of tokens in the rows.", STOPPING_STATE)
    return Slip("B6", sentence, STOPPING_STATE)


def finished(candidate: Candidate, rng: np.random.Generator) -> None:
    """True where the row selected the end token, by what was returned or by what should have been."""
    for case in _cases(rng):
        run = _play(candidate, case)
        if run is None:
            continue
        got, end = run.finished(), case.end_id
        right = [end in row for row in case.alone()]
        accepted = [{end in own, done} for own, done in zip(run.tokens, right, strict=True)]
        judged = _judged(run, case.alone())
        if any(g not in ok for g, ok, look in zip(got, accepted, judged, strict=True) if look):
            raise failure(_finished_slip(run, got, right), run, right, got)


def _finished_slip(run: Run, got: list[bool], right: list[bool]) -> Slip:
    if any(run.case.end_id in prompt for prompt in run.case.prompts):
        sentence = (
            "An end token inside a prompt finishes nothing. Only one that the loop selects itself does."
        )
        return Slip("G13", sentence, STOPPING_STATE)
    if all(not done or flag for flag, done in zip(got, right, strict=True)):
        sentence = (
            "Your flags call a truncated row finished. Finished is a row that selected the end token; one "
            "that came to the last round, or to a full context, was cut off."
        )
        return Slip("B7", sentence, DIFFERENT_TIMES)
    if got == [not done for done in right]:
        return Slip(None, "Your flags are turned around: True is for the rows that finished.", STOPPING_STATE)
    rounds = [len(row) for row in run.case.alone()]
    last = [done and n == max(rounds) for n, done in zip(rounds, right, strict=True)]
    if got == last:
        sentence = (
            "Your flags tell of the last round only: a row that selected the end token earlier has finished "
            "as well. A flag that is True stays True."
        )
        return Slip("B5", sentence, STOPPING_STATE)
    if got == [done and n < run.case.max_new_tokens for n, done in zip(rounds, right, strict=True)]:
        sentence = "A row that selects the end token in the very last round is finished as well."
        return Slip("B7", sentence, STOPPING_STATE)
    return Slip(None, "Your flags do not say which rows selected the end token.", STOPPING_STATE)
