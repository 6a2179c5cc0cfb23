"""The check of where the cached loop ends: `stops`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from course.checks.cache_reuse.cases import Case, ChainScript, RaisedError, Run, play
from course.checks.cache_reuse.feeding import explain
from course.checks.candidate import Candidate
from course.checks.failures import IDENTITY, Slip, failure_of
from course.checks.inputs import LAST_SHARED, count_of, distinct_ids
from course.checks.reference import greedy
from course.checks.sections import LIMITS
from course.checks.values import show_tokens


def _chain(rng: np.random.Generator, n_vocab: int = 9) -> tuple[ChainScript, list[int]]:
    """A model in which every token has one successor, all in one circle, and that circle."""
    circle = distinct_ids(rng, n_vocab, n_vocab)
    successors = [0] * n_vocab
    for i, token in enumerate(circle):
        successors[token] = circle[(i + 1) % n_vocab]
    return ChainScript(successors), circle


def _turned(circle: list[int], token: int, place: int) -> list[int]:
    """The circle, turned so that `token` stands at `place`."""
    start = circle.index(token) - place
    return [circle[(start + i) % len(circle)] for i in range(len(circle))]


def stops(candidate: Candidate, rng: np.random.Generator) -> None:
    """Ends with the end token, at the budget, or where the prefix fills the context. Only how many tokens."""
    for case in _budget_cases(rng):
        _budget(candidate, case)
    for case in _end_cases(rng):
        _end(candidate, case)
    _context(candidate, rng)


def _play(candidate: Candidate, case: Case) -> Run:
    try:
        return play(candidate, case)
    except RaisedError as raised:
        raise explain(raised) from raised.error


def _budget_cases(rng: np.random.Generator) -> Iterator[Case]:
    script, circle = _chain(rng)
    for length, steps in ((2, 3), (2, 1), (2, 0), (1, 4), (5, 2), (int(rng.integers(2, 7)), 12)):
        yield Case(script, [circle[0]] * length, steps)


def _budget(candidate: Candidate, case: Case) -> None:
    run = _play(candidate, case)
    count, wanted, length = len(run.tokens), case.max_new_tokens, len(case.prompt)
    if not run.passes and wanted:
        slip = Slip(None, "Your loop never asks the model for a prediction.", LIMITS)
        raise failure_of(slip, case.show(), count_of(wanted), count_of(count))
    if count == wanted:
        return
    if wanted == 0:
        slip = Slip("G3", "A budget of 0 asks for no tokens; your loop makes some.", LIMITS)
    elif count == max(wanted - length, 0):
        sentence = "Your budget counts the prompt: `max_new_tokens` bounds the new tokens only."
        slip = Slip("G2", sentence, LIMITS)
    elif abs(count - wanted) == 1:
        sentence = (
            "Your loop makes one token too many or too few: `max_new_tokens` is an exact bound. The token "
            "that the prompt's own pass predicts counts too."
        )
        slip = Slip("G3", sentence, LIMITS)
    else:
        slip = Slip(None, "Your loop does not keep to `max_new_tokens`.", LIMITS)
    raise failure_of(slip, case.show(), count_of(wanted), count_of(count))


def _end_cases(rng: np.random.Generator) -> Iterator[Case]:
    script, circle = _chain(rng)
    if circle[4] == 0 or circle[1] == 0:
        circle = [*circle[2:], *circle[:2]]  # end token 0 comes last
    prompt = [circle[0]] * 2
    yield Case(script, prompt, 6, end_id=circle[1])
    yield Case(script, prompt, 7, end_id=circle[4])
    yield Case(script, prompt, 4, end_id=circle[4])
    yield Case(script, [circle[4], *prompt], 7, end_id=circle[4])
    zero = _turned(circle, 0, 3)
    yield Case(script, [zero[0]] * 2, 7, end_id=0)
    script, circle = _chain(rng, 300)
    end = int(rng.integers(LAST_SHARED + 1, 300))
    yield Case(script, [_turned(circle, end, 3)[0]] * 2, 7, end_id=end)


def _end(candidate: Candidate, case: Case) -> None:
    run = _play(candidate, case)
    expected = case.expected(case.max_new_tokens)
    assert case.end_id is not None
    expected = expected[: expected.index(case.end_id) + 1]
    # A loop that feeds something else may never come to the step that selects the end token.
    came = any(_favours(case, one.token_ids) for one in run.passes)
    in_prompt = case.end_id in case.prompt and len(run.tokens) < 2
    ended = run.tokens.count(case.end_id) == 1 and run.tokens[-1] == case.end_id
    if run.tokens != expected and not ended and (came or in_prompt or not run.passes):
        slip = _end_slip(run, expected)
        raise failure_of(slip, case.show(), show_tokens(expected), show_tokens(run.tokens))


def _favours(case: Case, token_ids: Sequence[int]) -> bool:
    """Whether the last row of a pass over `token_ids` favours the end token."""
    known = bool(token_ids) and 0 <= token_ids[-1] < case.script.n_vocab
    return known and greedy(case.script.rows(tuple(token_ids[-1:]))) == case.end_id


def _end_slip(run: Run, expected: list[int]) -> Slip:
    end_id = run.case.end_id
    if end_id in run.case.prompt and len(run.tokens) < 2:
        sentence = "An end token inside the prompt stops your loop. Only one that it selects itself ends it."
        return Slip("G13", sentence, LIMITS)
    if run.tokens == expected[:-1]:
        sentence = (
            "Your loop drops the end token: it is a selected token like the others, so it is returned too."
        )
        return Slip("G6", sentence, LIMITS)
    if end_id == 0 and len(run.tokens) > len(expected):
        sentence = (
            "Your loop goes on after end token 0: in Python 0 counts as false, so ask `end_id is not None`."
        )
        return Slip("G15", sentence, LIMITS)
    if end_id is not None and end_id > LAST_SHARED and len(run.tokens) > len(expected):
        sentence = f"Your loop goes on after a large end id, and stops at small ones. {IDENTITY}"
        return Slip(None, sentence, LIMITS)
    if len(run.tokens) > len(expected):
        return Slip(None, "Your loop goes on after the end token was selected.", LIMITS)
    return Slip(None, "Your loop does not end with the end token that was selected.", LIMITS)


def _context_cases(rng: np.random.Generator) -> Iterator[Case]:
    script, circle = _chain(rng)
    for length, room, steps in ((2, 1, 9), (2, 0, 9), (2, 2, 9), (4, 3, 20), (2, 3, 4), (2, 4, 4), (2, 5, 4)):
        yield Case(script, [circle[0]] * length, steps, context_length=length + room)
    yield Case(script, [circle[0]] * 4, 20, held=[circle[0]] * 2, context_length=7)
    yield Case(script, [circle[0]] * LAST_SHARED, 9, context_length=LAST_SHARED + 2)


def _room(case: Case) -> int:
    return case.context_length - len(case.prompt)


def _context(candidate: Candidate, rng: np.random.Generator) -> None:
    counts = [(case, _context_count(candidate, case)) for case in _context_cases(rng)]
    for case, count in counts:
        # Where the budget is as near as the context, too few tokens may be the budget's fault.
        near = case.max_new_tokens <= case.context_length
        if count is not None and (count > _room(case) or (count < _room(case) and not near)):
            slip = _context_slip([(case, count) for case, count in counts if count is not None])
            raise failure_of(slip, case.show(), _expected(case), count_of(count))


def _expected(case: Case) -> str:
    return f"{count_of(min(_room(case), case.max_new_tokens))}, and no error"


def _context_count(candidate: Candidate, case: Case) -> int | None:
    """How many tokens a run makes; None where it fails for reasons that other checks look into."""
    try:
        run = play(candidate, case)
    except RaisedError as raised:
        if raised.error.is_a("ContextOverflowError"):
            whole = (*case.prompt, *case.expected(_room(case) + 1))
            if raised.passes and raised.passes[-1].read != whole:
                return None  # positions that are fed twice fill the context as well: that is for `fed_once`
            sentence = (
                "Your loop hands the model a longer prefix than it can read: stop once the context is full. "
                "The last selected token fills it without being fed."
            )
            slip = Slip("G12", sentence, LIMITS)
            if case.context_length > LAST_SHARED:
                sentence = "Your loop goes on after a long context is full, and stops at short ones."
                slip = Slip(None, f"{sentence} {IDENTITY}", LIMITS)
            raise raised.explained(slip, _expected(case)) from raised.error
        raise explain(raised) from raised.error
    if case.held is not None and not run.starts_right:
        return None  # what a passed cache is used for is the business of `common_prefix`
    return len(run.tokens)


def _counted_twice(case: Case) -> int:
    """How many tokens a loop makes that adds the cache's length to the prompt's."""
    count, held = 0, case.kept
    while count < case.max_new_tokens and held + len(case.prompt) + count < case.context_length:
        held, count = len(case.prompt) + count, count + 1
    return count


def _context_slip(counts: list[tuple[Case, int]]) -> Slip:
    twice = all(count == _counted_twice(case) for case, count in counts)
    wrong = [case for case, count in counts if count < min(_room(case), case.max_new_tokens)]
    if twice or (wrong and all(case.held for case in wrong)):
        sentence = (
            "Your loop counts positions twice: what the cache holds is a part of the prefix already. What "
            "fills the context is the prompt and the new tokens, each once."
        )
        return Slip("K2", sentence, LIMITS)
    if wrong:
        sentence = (
            "Your loop stops too soon: it may go on until the prefix fills `model.context_length` exactly."
        )
    else:
        sentence = "Your loop goes on although the prefix fills the context: stop once there is no room left."
    return Slip("G12", sentence, LIMITS)
