"""Checks of what the generation loop reads and selects: `greedy` and `passes`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from course.checks.candidate import Candidate
from course.checks.failures import Slip, require_same_ids
from course.checks.generation_loop.cases import Case, RaisedError, Run, failure, play, require_two_tokens
from course.checks.generation_loop.diagnosis import append_slip, greedy_slip, unknown_id_slip
from course.checks.inputs import distinct_ids, scheduled, show_rows
from course.checks.models import HistoryScript, Prefix, ScheduleScript
from course.checks.reference import continuation
from course.checks.reference import greedy as largest
from course.checks.sections import APPEND, LIMITS, READ
from course.checks.values import show_tokens


def _greedy_cases(rng: np.random.Generator) -> Iterator[Case]:
    for n_vocab, length, as_array in (
        (6, 2, False),
        (7, 1, False),
        (9, 3, True),
        (40, 5, False),
        (64, 1, True),
    ):
        script = HistoryScript(n_vocab, int(rng.integers(2**31)))
        yield Case(script, distinct_ids(rng, n_vocab, length), length + 4, as_array=as_array)


def _tied_cases(rng: np.random.Generator) -> Iterator[tuple[Case, list[int]]]:
    """Cases whose rows all agree, with exact ties, and the tied ids."""
    yield Case(ScheduleScript({}, np.zeros(4)), [1, 2], 6), [0, 1, 2, 3]
    n_vocab = 9
    tied = sorted(distinct_ids(rng, n_vocab, 3))
    logits = np.full(n_vocab, -1.0)
    logits[tied] = 2.5
    yield Case(ScheduleScript({}, logits), [3, 0], 6), tied


def _play(candidate: Candidate, case: Case) -> Run:
    """Play a case; where the function raised, say why if its passes tell."""
    try:
        return play(candidate, case)
    except RaisedError as raised:
        slip = append_slip(case, [], raised.passes) or unknown_id_slip(raised)
        if slip is None:
            raise
        raise raised.explained(slip) from raised.error


def greedy(candidate: Candidate, rng: np.random.Generator) -> None:
    """The last row of the pass over the whole prefix; tokens join it one by one; ties go to the lowest id."""
    for case in _greedy_cases(rng):
        run = _play(candidate, case)
        require_two_tokens(run)
        expected = continuation(case.script, case.prompt, len(run.tokens), largest)
        if run.tokens != expected:
            general = Slip(None, "Your loop selects other tokens than greedy selection does.", READ)
            slip = greedy_slip(case, run.tokens, run.passes) or general
            rows = show_rows(case.script, case.prompt)
            raise failure(slip, case, show_tokens(expected), show_tokens(run.tokens), model=rows)
    for case, tied in _tied_cases(rng):
        run = play(candidate, case)
        require_two_tokens(run)
        if run.tokens != [tied[0]] * len(run.tokens):
            ties = (
                "Your loop breaks a tie in another way: among tokens of equal logits the lowest id is taken."
            )
            general = Slip(None, "Your loop selects a token that does not have the largest logit.", READ)
            slip = Slip("G16", ties, READ) if set(run.tokens) <= set(tied) else general
            expected_text = show_tokens([tied[0]] * len(run.tokens))
            model = f"the largest logit is shared by {tied} at every step"
            raise failure(slip, case, expected_text, show_tokens(run.tokens), model=model)


def _pass_cases(rng: np.random.Generator) -> Iterator[tuple[Case, int]]:
    """Cases and the tokens that each gives."""
    n_vocab = 8
    first, second, third, fourth, end = distinct_ids(rng, n_vocab, 5)
    plain = scheduled(n_vocab, [third, fourth, first], 2, second)
    yield Case(plain, [first, second], 4), 4
    yield Case(plain, [first, second], 4, as_array=True), 4
    yield Case(plain, [first, second], 0), 0
    yield Case(scheduled(n_vocab, [third, fourth, end], 2, first), [first, second], 9, end_id=end), 3
    yield Case(scheduled(n_vocab, [second, first], 5, third), distinct_ids(rng, n_vocab, 5), 7), 7


def passes(candidate: Candidate, rng: np.random.Generator) -> None:
    """One pass a returned token, none after the last; each prefix is the last one plus the selected token."""
    for case, count in _pass_cases(rng):
        run = _play(candidate, case)
        if count:
            require_two_tokens(run)
        require_same_ids("prompt", case.prompt, run.call.arguments[1], case.show())
        tokens = list(run.tokens)
        if case.end_id is not None and len(tokens) == count - 1:
            tokens.append(case.end_id)  # selected and dropped: that is the business of `end_token`
        expected = [(*case.prompt, *tokens[:step]) for step in range(len(tokens))]
        read = [asked.token_ids for asked in run.passes]
        if read != expected:
            raise failure(_pass_slip(run, read, expected), case, _show_passes(expected), _show_passes(read))


def _pass_slip(run: Run, read: list[Prefix], expected: list[Prefix]) -> Slip:
    if len(read) == len(expected) + 1 and read[:-1] == expected:
        sentence = "Your loop makes a pass that nothing comes of: no token is selected after the last one."
        return Slip("G14", sentence, LIMITS)
    if [prefix for i, prefix in enumerate(read) if prefix != read[i - 1] or i == 0] == expected:
        return Slip(None, "Your loop makes more than one pass a token; one is enough.", READ)
    general = Slip(None, "Each pass reads the prefix before it plus the token selected since.", APPEND)
    return append_slip(run.case, run.tokens, run.passes) or general


def _show_passes(read: list[Prefix]) -> str:
    shown = ", ".join(show_tokens(prefix) for prefix in read[:5])
    more = ", ..." if len(read) > 5 else ""
    return f"{len(read)} passes" + (f" over {shown}{more}" if read else "")
