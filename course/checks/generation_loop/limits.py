"""Checks of where the generation loop ends: `budget`, `end_token`, `finish_reason` and `context`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from course.checks.candidate import Candidate
from course.checks.check import CheckFailure
from course.checks.failures import IDENTITY, Slip
from course.checks.generation_loop.cases import Case, RaisedError, Run, failure, play
from course.checks.generation_loop.diagnosis import append_slip, returned_prompt
from course.checks.inputs import LAST_SHARED, count_of, distinct_ids, scheduled
from course.checks.sections import APPEND, LIMITS
from course.checks.values import show_tokens


def budget(candidate: Candidate, rng: np.random.Generator) -> None:
    """Exactly `max_new_tokens` new tokens: 0, 1, N, and fewer than the prompt has. Only the count."""
    n_vocab = 8
    runs = []
    for length, steps in ((2, 3), (2, 1), (2, 0), (1, 4), (5, 2), (6, 1), (int(rng.integers(2, 7)), 12)):
        script = scheduled(n_vocab, distinct_ids(rng, n_vocab, 4), length, int(rng.integers(n_vocab)))
        runs.append(play(candidate, Case(script, distinct_ids(rng, n_vocab, length), steps)))
    wrong = [run for run in runs if len(run.tokens) != run.case.max_new_tokens]
    if wrong:
        case = wrong[0].case
        raise failure(_budget_slip(runs), case, count_of(case.max_new_tokens), count_of(len(wrong[0].tokens)))


def _budget_slip(runs: Sequence[Run]) -> Slip:
    asked = [run.case.max_new_tokens for run in runs]
    got = [len(run.tokens) for run in runs]
    lengths = [len(run.case.prompt) for run in runs]
    if got == [max(steps - length, 0) for steps, length in zip(asked, lengths, strict=True)]:
        sentence = (
            "Your budget counts the prompt: `max_new_tokens` bounds the new tokens, not the whole prefix."
        )
        return Slip("G2", sentence, LIMITS)
    if all(returned_prompt(run.case, run.tokens) for run in runs if run.case.max_new_tokens):
        sentence = "Your function returns the prompt as well: only the new tokens are asked for."
        return Slip(None, sentence, APPEND)
    if all(count == steps for count, steps in zip(got, asked, strict=True) if steps):
        return Slip("G3", "A budget of 0 asks for no tokens; your loop makes some.", LIMITS)
    if max(abs(count - steps) for count, steps in zip(got, asked, strict=True)) == 1:
        sentence = (
            "Your loop makes one token too many or too few: `max_new_tokens` is an exact bound, 0 and 1 too."
        )
        return Slip("G3", sentence, LIMITS)
    return Slip(None, "Your loop does not keep to `max_new_tokens`.", LIMITS)


def _end_cases(rng: np.random.Generator) -> Iterator[tuple[Case, list[int]]]:
    """Cases and the tokens they give. The prompts have two tokens or more, the budgets room for them."""
    n_vocab = 8
    first, second, end, other, more = (
        token + 1 for token in distinct_ids(rng, n_vocab - 1, 5)
    )  # 0 comes late
    prompt = [first, second]

    def case(
        favourites: list[int], steps: int, prompt: list[int], end_id: int, n_vocab: int = n_vocab
    ) -> tuple[Case, list[int]]:
        start = len(prompt)
        script = scheduled(n_vocab, favourites, start, more)
        return Case(script, prompt, steps, end_id=end_id), favourites[: favourites.index(end_id) + 1]

    yield case([end], 5, prompt, end)
    yield case([other, first, end, second], 9, prompt, end)
    yield case([other, first, end], 3, prompt, end)
    yield case([other, first, end], 9, [first, end, second], end)
    yield case([other, first, end], 9, [first, second, end], end)
    yield case([other, 0, first], 9, prompt, 0)
    large = int(rng.integers(LAST_SHARED + 1, 300))
    yield case([other, large, first], 9, prompt, large, 300)


def end_token(candidate: Candidate, rng: np.random.Generator) -> None:
    """A selected end token is the last one returned, whatever its id; one in the prompt ends nothing."""
    for case, expected in _end_cases(rng):
        run = play(candidate, case)
        stopped_by_prompt = case.end_id in case.prompt and len(run.tokens) < 2
        # A loop that ends too soon, or never appends, does not come to the step that selects the end token.
        judged = stopped_by_prompt or len(expected) == 1 or run.read_as_far_as(len(expected))
        if run.tokens != expected and judged:
            raise failure(
                _end_slip(case, run, expected), case, show_tokens(expected), show_tokens(run.tokens)
            )


def _end_slip(case: Case, run: Run, expected: list[int]) -> Slip:
    if case.end_id in case.prompt and len(run.tokens) < 2:
        sentence = (
            "An end token inside the prompt stops your loop. Only one that the loop selects itself ends it."
        )
        return Slip("G13", sentence, LIMITS)
    if run.tokens == expected[:-1]:
        sentence = (
            "Your loop drops the end token: it is a selected token like the others, so it is returned too."
        )
        return Slip("G6", sentence, LIMITS)
    if case.end_id == 0 and len(run.tokens) > len(expected):
        sentence = (
            "Your loop goes on after end token 0: in Python 0 counts as false, so ask `end_id is not None`."
        )
        return Slip("G15", sentence, LIMITS)
    if case.end_id is not None and case.end_id > LAST_SHARED and len(run.tokens) > len(expected):
        sentence = f"Your loop goes on after a large end id, and stops at small ones. {IDENTITY}"
        return Slip(None, sentence, LIMITS)
    if len(run.tokens) > len(expected):
        return Slip(None, "Your loop goes on after the end token was selected.", LIMITS)
    return append_slip(case, run.tokens, run.passes) or Slip(
        None, "Your loop does not end with the end token that was selected.", LIMITS
    )


def _reason_cases(rng: np.random.Generator) -> Iterator[tuple[Case, str, int]]:
    """Cases, the reason they end for, and the step that a run must come to before its reason is judged."""
    n_vocab = 8
    first, second, end, other, more = (token + 1 for token in distinct_ids(rng, n_vocab - 1, 5))
    prompt = [first, second]
    plain = scheduled(n_vocab, [other, first, second], 2, more)
    ending = scheduled(n_vocab, [other, first, end], 2, more)
    yield Case(plain, prompt, 4), "length", 0
    yield Case(scheduled(n_vocab, [end], 2, more), prompt, 6, end_id=end), "stop", 0
    yield Case(plain, prompt, 4, end_id=end), "length", 4
    yield Case(ending, prompt, 6, end_id=end), "stop", 3
    yield Case(plain, prompt, 0), "length", 0
    yield Case(plain, prompt, 9, context_length=5), "context", 3
    yield Case(plain, prompt, 3, context_length=2), "context", 0
    yield Case(ending, prompt, 3, end_id=end), "stop", 3
    yield Case(ending, prompt, 9, end_id=end, context_length=5), "stop", 3
    yield Case(plain, prompt, 3, context_length=5), "length", 3
    yield Case(plain, prompt, 0, context_length=2), "length", 0


def finish_reason(candidate: Candidate, rng: np.random.Generator) -> None:
    """Why the run ended: "stop", "length" or "context", where two hold at once as well. Only the reason."""
    why = {
        "stop": 'the end token was selected, and that always gives "stop"',
        "length": "`max_new_tokens` is reached, and at the top of a step that is tested before the context",
        "context": "the prefix fills `model.context_length` before the budget is used up",
    }
    for case, expected, steps in _reason_cases(rng):
        run = play(candidate, case)
        # A loop that ends too soon, or never appends, has not met the bound that this case is about.
        if run.reason != expected and run.read_as_far_as(steps):
            if run.reason in why:
                sentence = f"Your loop gives the wrong finish reason: here {why[expected]}."
            else:
                sentence = 'The finish reason is one of "stop", "length" and "context", spelled so.'
            raise failure(Slip("G7", sentence, LIMITS), case, repr(expected), repr(run.reason[:40]))


def _overflow(raised: RaisedError) -> CheckFailure:
    if raised.error.is_a("ContextOverflowError") and raised.case.context_length > LAST_SHARED:
        sentence = f"Your loop goes on after a long context is full, and stops at short ones. {IDENTITY}"
        return raised.explained(Slip(None, sentence, LIMITS))
    if raised.error.is_a("ContextOverflowError"):
        sentence = (
            "Your loop hands the model a longer prefix than it can read: stop once the context is full."
        )
    else:
        sentence = (
            "Your function raises where the context bound only ends the run: it goes on until the prefix "
            "fills `model.context_length`."
        )
    return raised.explained(Slip("G12", sentence, LIMITS))


def context(candidate: Candidate, rng: np.random.Generator) -> None:
    """The run ends when the prefix fills the context, to the token, and never crops it. Only the tokens."""
    n_vocab = 8
    bounds = (
        (2, 1, 9),
        (2, 0, 9),
        (2, 2, 9),
        (3, 4, 20),
        (2, 3, 4),
        (2, 4, 4),
        (2, 5, 4),
        (LAST_SHARED, 2, 9),
    )
    for length, room, steps in bounds:
        script = scheduled(n_vocab, distinct_ids(rng, n_vocab, 4), length, int(rng.integers(n_vocab)))
        few = length <= n_vocab
        prompt = distinct_ids(rng, n_vocab, length) if few else rng.integers(n_vocab, size=length).tolist()
        case = Case(script, prompt, steps, context_length=length + room)
        try:
            run = play(candidate, case)
        except RaisedError as raised:
            raise _overflow(raised) from raised.error
        count = len(run.tokens)
        # Where the budget is as near as the context, too few tokens may be the budget's fault.
        if count > room or (count < room and steps > length + room):
            raise failure(_context_slip(run, room), case, count_of(room), count_of(count))


def _context_slip(run: Run, room: int) -> Slip:
    prompt, bound = tuple(run.case.prompt), run.case.context_length
    cropped = any(p.token_ids[: len(prompt)] != prompt for p in run.passes)
    if len(run.tokens) > room + 1 and cropped and any(len(p.token_ids) == bound for p in run.passes):
        sentence = "Your loop crops the prefix to go on: once the prefix fills the context, the run is over."
    elif len(run.tokens) == room + 1:
        sentence = (
            "Your loop makes one token too many: a prefix that already fills the context is not continued, "
            "since the new token would have no place in it."
        )
    elif len(run.tokens) < room:
        sentence = (
            "Your loop stops too soon: it may go on until the prefix fills `model.context_length` exactly."
        )
    else:
        return Slip(None, "Your loop does not end when the prefix fills `model.context_length`.", LIMITS)
    return Slip("G12", sentence, LIMITS)
