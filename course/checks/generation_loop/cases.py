"""Inputs for the generation loop: one call, how it is played, and how it is shown to the student."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from course.checks.candidate import Call, Candidate, StudentError
from course.checks.check import CheckFailure
from course.checks.models import ModelCall, ScheduleScript, Script, ScriptedModel
from course.checks.values import UnreadableError, as_pair, as_reason, as_tokens, show_tokens

READ = "Section 4, Read the prefix and select the next token"
APPEND = "Section 5, Append, then predict with the new context"
LIMITS = "Section 8, Give the loop explicit limits"

ROOMY = 256  # a context length that no check of something else comes near
PAIR = "(new_token_ids, finish_reason)"
MOST_DRAWN = 6  # rows of a larger vocabulary are not printed


@dataclass(frozen=True)
class Case:
    """Arguments of one call of `generate`, all but the generator.

    prompt : token ids; handed over as an array where `as_array`.
    temperature : None leaves the argument out.
    """

    script: Script
    prompt: Sequence[int]
    max_new_tokens: int
    end_id: int | None = None
    temperature: float | None = None
    context_length: int = ROOMY
    as_array: bool = False

    def show(self, rng: str = "") -> str:
        """The call as a student would write it."""
        prompt = show_tokens(self.prompt)
        parts = [
            f"generate(model, {f'np.array({prompt})' if self.as_array else prompt}, {self.max_new_tokens}"
        ]
        if self.end_id is not None:
            parts.append(f"end_id={self.end_id}")
        if rng:
            parts.append(f"rng={rng}")
        if self.temperature is not None:
            parts.append(f"temperature={self.temperature:g}")
        text = ", ".join(parts) + f") with model.n_vocab = {self.script.n_vocab}"
        return (
            text if self.context_length == ROOMY else f"{text}, model.context_length = {self.context_length}"
        )


@dataclass(frozen=True)
class Slip:
    """A recognised slip: its id in the catalogue (None for one that is not there), and what to tell."""

    misconception: str | None
    sentence: str
    section: str


@dataclass(frozen=True)
class Run:
    """What came of playing a case, read into plain values.

    passes : what the model was asked, in order.
    """

    case: Case
    tokens: list[int]
    reason: str
    call: Call
    passes: list[ModelCall] = field(repr=False)

    def read_as_far_as(self, step: int) -> bool:
        """Whether a pass read the prefix that step number `step` (from 1) reads, going by its length."""
        longest = max((len(asked.token_ids) for asked in self.passes), default=0)
        return step == 0 or longest >= len(self.case.prompt) + step - 1


def play(candidate: Candidate, case: Case, rng: np.random.Generator | None = None, shown: str = "") -> Run:
    """Call the student's `generate` on a case.

    shown : how the generator is written in messages.

    Raises RaisedError where the function raised, another CheckFailure where its result is not a pair of
    tokens and a reason.
    """
    model = ScriptedModel(case.script, case.context_length)
    keywords: dict[str, object] = {}
    if case.end_id is not None:
        keywords["end_id"] = case.end_id
    if rng is not None:
        keywords["rng"] = rng
    if case.temperature is not None:
        keywords["temperature"] = case.temperature
    prompt = np.array(case.prompt) if case.as_array else list(case.prompt)
    try:
        call = candidate.call("generate", model, prompt, case.max_new_tokens, **keywords)
    except StudentError as error:
        raise RaisedError(case, error, model.calls, shown) from error
    try:
        first, second = as_pair(call.result)
        return Run(case, as_tokens(first), as_reason(second), call, model.calls)
    except UnreadableError as error:
        raise CheckFailure(
            "`generate` must return two things, the new token ids and the finish reason.",
            case=case.show(shown),
            expected=f"{PAIR}, like ([4, 1], 'length')",
            got=str(error),
            section=LIMITS,
        ) from None


class RaisedError(CheckFailure):
    """The student's `generate` raised where it should have returned.

    error : what it raised.
    passes : what the model had been asked by then.
    """

    def __init__(self, case: Case, error: StudentError, passes: list[ModelCall], shown: str) -> None:
        self.case = case
        self.error = error
        self.passes = passes
        self.shown = shown
        super().__init__(
            f"Your function raised {error.kind} where it should return two things.",
            case=case.show(shown),
            expected=PAIR,
            got=str(error),
            status="error",
        )

    def explained(self, slip: Slip, expected: str = PAIR) -> CheckFailure:
        """The same failure, once its cause is known."""
        return CheckFailure(
            slip.sentence,
            case=self.case.show(self.shown),
            expected=expected,
            got=str(self.error),
            section=slip.section,
            misconception=slip.misconception,
            status="error",
        )


def show_rows(script: Script, prefix: Sequence[int]) -> str:
    """The rows of one pass, where they are few enough to read."""
    if len(prefix) > 3 or script.n_vocab > MOST_DRAWN:
        return ""
    rows = np.round(script.rows(tuple(prefix)), 2).tolist()
    return f"logits({list(prefix)}) gives {rows}"


def scheduled(n_vocab: int, favourites: Sequence[int], start: int, otherwise: int) -> ScheduleScript:
    """A model that favours `favourites` one after the other once `start` tokens are read.

    At any other length it favours `otherwise`. The favourite leads by 4, so its share is about 50 times
    that of each other token.
    """
    lead = 4.0 * np.eye(n_vocab)
    by_length = {start + step: lead[token] for step, token in enumerate(favourites)}
    return ScheduleScript(by_length, lead[otherwise])


def distinct_ids(rng: np.random.Generator, n_vocab: int, count: int) -> list[int]:
    """A prompt of `count` different tokens, so that no slip hides behind a repeated one."""
    return [int(token) for token in rng.choice(n_vocab, count, replace=False)]


def failure(slip: Slip, case: Case, expected: str, got: str, rng: str = "", model: str = "") -> CheckFailure:
    """What a check raises once it knows the slip; `rng` is how the generator is written."""
    return CheckFailure(
        slip.sentence,
        case=case.show(rng),
        model=model,
        expected=expected,
        got=got,
        section=slip.section,
        misconception=slip.misconception,
    )


def count_of(count: int) -> str:
    """A number of tokens in words."""
    return "1 token" if count == 1 else f"{count} tokens"


def require_two_tokens(run: Run, rng: str = "") -> None:
    """At least two tokens: how many exactly is the business of `budget`, but none prove nothing."""
    if len(run.tokens) < min(2, run.case.max_new_tokens):
        slip = Slip(None, "Your loop returns too few tokens to compare.", APPEND)
        raise failure(slip, run.case, count_of(run.case.max_new_tokens), count_of(len(run.tokens)), rng)
