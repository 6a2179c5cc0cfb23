"""Inputs for the generation loop: one call, how it is played, and how it is shown to the student."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from course.checks import failures
from course.checks.candidate import Call, Candidate, StudentError
from course.checks.check import CheckFailure
from course.checks.failures import Slip, failure_of
from course.checks.inputs import ROOMY, count_of
from course.checks.models import ModelCall, Script, ScriptedModel
from course.checks.sections import APPEND, LIMITS
from course.checks.values import UnreadableError, as_pair, as_reason, as_tokens, show_tokens

PAIR = "(new_token_ids, finish_reason)"


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


class RaisedError(failures.RaisedError):
    """The student's `generate` raised where it should have returned.

    passes : what the model had been asked by then.
    """

    def __init__(self, case: Case, error: StudentError, passes: list[ModelCall], shown: str) -> None:
        self.case = case
        self.passes = passes
        sentence = f"Your function raised {error.kind} where it should return two things."
        super().__init__(case.show(shown), error, PAIR, sentence)


def failure(slip: Slip, case: Case, expected: str, got: str, rng: str = "", model: str = "") -> CheckFailure:
    """What a check raises once it knows the slip; `rng` is how the generator is written."""
    return failure_of(slip, case.show(rng), expected, got, model)


def require_two_tokens(run: Run, rng: str = "") -> None:
    """At least two tokens: how many exactly is the business of `budget`, but none prove nothing."""
    if len(run.tokens) < min(2, run.case.max_new_tokens):
        slip = Slip(None, "Your loop returns too few tokens to compare.", APPEND)
        raise failure(slip, run.case, count_of(run.case.max_new_tokens), count_of(len(run.tokens)), rng)
