"""Checks of what the cached loop selects and feeds, without a passed cache: `tokens` and `fed_once`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from course.checks.cache_reuse.cases import (
    Case,
    RaisedError,
    Run,
    play,
    require_two_tokens,
    show_passes,
)
from course.checks.cache_reuse.diagnosis import ROUNDED, decode_slip, feeding_slip, raised_slip, row_slip
from course.checks.candidate import Candidate
from course.checks.check import CheckFailure
from course.checks.failures import Slip, failure_of, require_same_ids
from course.checks.inputs import ROOMY, distinct_ids, show_rows
from course.checks.models import HistoryScript, ScheduleScript
from course.checks.sections import CACHE, READ, REUSE
from course.checks.values import show_tokens


def explain(raised: RaisedError) -> CheckFailure:
    """The same failure, with its cause where its passes tell."""
    slip = raised_slip(raised)
    return raised if slip is None else raised.explained(slip)


def _play(candidate: Candidate, case: Case) -> Run:
    try:
        return play(candidate, case)
    except RaisedError as raised:
        raise explain(raised) from raised.error


def _history_cases(rng: np.random.Generator) -> Iterator[Case]:
    for n_vocab, length, as_array in (
        (6, 3, False),
        (7, 2, True),
        (9, 1, False),
        (40, 5, False),
        (64, 9, True),
    ):
        script = HistoryScript(n_vocab, int(rng.integers(2**31)))
        yield Case(script, distinct_ids(rng, n_vocab, length), length + 4, as_array=as_array)


def tokens(candidate: Candidate, rng: np.random.Generator) -> None:
    """The tokens of the greedy loop without a cache; the lowest id on a tie. How they are read is open."""
    for case in _history_cases(rng):
        run = _play(candidate, case)
        require_two_tokens(run)
        if not run.has_right_tokens:
            general = Slip(None, "Your loop selects other tokens than the loop without a cache does.", REUSE)
            slip = decode_slip(case, run.passes, run.tokens) or row_slip(run) or general
            expected = f"{show_tokens(case.expected(len(run.tokens)))}, as without a cache"
            got = f"{show_tokens(run.tokens)}, from {show_passes(run.passes)}"
            raise failure_of(slip, case.show(), expected, got, show_rows(case.script, case.prompt))
    _ties(candidate, rng)


def _ties(candidate: Candidate, rng: np.random.Generator) -> None:
    """Exact ties go to the lowest id; a lead of 1e-8 is no tie. All rows agree, so only the choice counts."""
    n_vocab = 9
    low, *_, high = tied = sorted(distinct_ids(rng, n_vocab, 3))
    level = np.full(n_vocab, -1.0)
    level[tied] = 0.5
    ahead = level.copy()
    ahead[high] += 1e-8
    for logits, expected, slip, model in (
        (
            level,
            low,
            Slip("G16", "Among tokens of equal logits your loop does not take the lowest id.", READ),
            f"the largest logit is shared by {tied} at every step",
        ),
        (ahead, high, ROUNDED, f"the logit of {high} leads that of {low} by 1e-8 at every step"),
    ):
        case = Case(ScheduleScript({}, logits), [3, 0], 6)
        run = _play(candidate, case)
        require_two_tokens(run)
        if set(run.tokens) != {expected}:
            if not set(run.tokens) <= set(tied):
                slip = Slip(None, "Your loop selects a token that does not have the largest logit.", READ)
            wanted = show_tokens([expected] * len(run.tokens))
            raise failure_of(slip, case.show(), wanted, show_tokens(run.tokens), model)


def _feeding_cases(rng: np.random.Generator) -> Iterator[Case]:
    n_vocab = 12
    for length, steps, as_array in ((3, 5, False), (3, 5, True), (1, 1, False), (6, 2, False), (2, 9, True)):
        script = HistoryScript(n_vocab, int(rng.integers(2**31)))
        yield Case(script, distinct_ids(rng, n_vocab, length), steps, as_array=as_array)
    script = HistoryScript(n_vocab, int(rng.integers(2**31)))
    prompt = distinct_ids(rng, n_vocab, 3)
    yield Case(script, prompt, 9, end_id=end_on_the_way(script, prompt))
    yield Case(script, prompt[:2], 20, context_length=9)
    yield Case(script, prompt, 0)


def end_on_the_way(script: HistoryScript, prompt: Sequence[int]) -> int:
    """An end token that a run selects after two others: not 0, and not in the prompt."""
    selected = Case(script, prompt, 8).expected(8)
    return next(token for token in selected[2:] if token and token not in prompt)


def fed_once(candidate: Candidate, rng: np.random.Generator) -> None:
    """The prompt once, then each selected token but the last, one a pass.

    In how many passes the prompt is read is left open; so is whether it is read where no token can be made.
    """
    for case in _feeding_cases(rng):
        try:
            run = play(candidate, case)
        except RaisedError as raised:
            if case.context_length < ROOMY and raised.error.is_a("ContextOverflowError"):
                continue  # the business of `stops`
            raise explain(raised) from raised.error
        if case.max_new_tokens > len(case.prompt) + 1:
            require_two_tokens(run)  # how many exactly is the business of `stops`
        if not any(_fed_right(run, selected) for selected in _selected(run)):
            general = Slip(
                None, "Each position is fed once: the prompt, then each selected token but the last.", CACHE
            )
            asked = _selected(run)[0][:-1]
            singles = [case.prompt, *([token] for token in asked)]
            count = len(case.prompt) + len(asked)
            expected = f"{count} positions fed: {', then '.join(show_tokens(one) for one in singles[:8])}"
            slip = feeding_slip(run) or general
            raise failure_of(slip, case.show(), expected, show_passes(run.passes))
        require_same_ids("prompt", case.prompt, run.call.arguments[1], case.show())


def _selected(run: Run) -> list[list[int]]:
    """What may have been selected: a dropped end token, or a prompt among the tokens, is for other checks."""
    case, tokens = run.case, run.tokens
    found = [tokens]
    if case.end_id is not None and case.end_id not in tokens:
        found.append([*tokens, case.end_id])
    if tokens[: len(case.prompt)] == list(case.prompt):
        found.append(tokens[len(case.prompt) :])
    return found


def _fed_right(run: Run, selected: list[int]) -> bool:
    """Whether the prompt was fed, and then all of `selected` but its last token, one a pass."""
    prompt = list(run.case.prompt)
    if not selected:
        return run.fed == prompt[: len(run.fed)]  # nothing to make: the prompt may be read or left unread
    position = 0
    for one in run.passes:
        if position >= len(prompt) and len(one.token_ids) != 1:
            return False
        position += len(one.token_ids)
    return run.fed == [*prompt, *selected[:-1]]
