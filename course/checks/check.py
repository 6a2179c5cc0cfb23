"""Named checks: what one is, how it fails, and how it is run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from textwrap import fill
from typing import Literal

import numpy as np

from course.checks.candidate import Call, Candidate, CandidateLostError, StudentError
from course.checks.message import NO_MESSAGE, Message
from course.text import readable

Status = Literal["passed", "failed", "error", "timeout"]
Body = Callable[[Candidate, np.random.Generator], None]


@dataclass(frozen=True)
class Check:
    """One named check of one challenge.

    function : the student's function that it calls.
    points : all of them for a pass, none otherwise.
    run : the body; takes the candidate and the generator that its inputs come from, raises CheckFailure.
    """

    name: str
    challenge: str
    function: str
    points: int
    run: Body


@dataclass(frozen=True)
class CheckResult:
    """How one check ended, in plain data.

    status : "passed", "failed" (a wrong answer), "error" (the function raised, or could not be judged) or
        "timeout" (it was stopped).
    misconception : id in the catalogue, where the slip was recognised.
    message : for the student; empty after a pass.
    written : False where the function is still the stub that was handed out.
    """

    challenge: str
    name: str
    function: str
    points: int
    max_points: int
    status: Status
    misconception: str | None = None
    message: Message = NO_MESSAGE
    written: bool = True

    @classmethod
    def of(
        cls,
        check: Check,
        status: Status,
        message: Message | str = "",
        misconception: str | None = None,
        *,
        written: bool = True,
    ) -> CheckResult:
        """How a check ended, with the points that belong to it."""
        points = check.points if status == "passed" else 0
        told = Message(message) if isinstance(message, str) else message
        where = (check.challenge, check.name, check.function)
        return cls(*where, points, check.points, status, misconception, told, written)


class CheckFailure(Exception):  # noqa: N818 - it is what a check reports, not an error in it
    """A check found something wrong. Its `message` is what the student reads.

    sentence : what went wrong, in a student's words.
    case : the smallest input that showed it, as a call that the student can repeat.
    model : what the model says in that case.
    expected, got : of that call.
    section : what to read again.
    misconception : id in the catalogue, or None where the slip was not recognised.
    status : "error" where the student's function raised.
    """

    def __init__(
        self,
        sentence: str,
        *,
        case: str = "",
        model: str = "",
        expected: str = "",
        got: str = "",
        section: str = "",
        misconception: str | None = None,
        status: Literal["failed", "error"] = "failed",
    ) -> None:
        self.misconception = misconception
        self.status: Literal["failed", "error"] = status
        lines = {"Smallest case": case, "the model": model, "expected": expected, "got": got}
        self.message = Message(
            fill(sentence, 100), tuple((label, text) for label, text in lines.items() if text), section
        )
        super().__init__(str(self.message))


def run_check(check: Check, candidate: Candidate, seed: int) -> CheckResult:
    """Run one check on inputs drawn from `seed`. Whatever the candidate does, the answer is a CheckResult.

    Raises CandidateLostError where the candidate runs elsewhere, and is gone.
    """
    watched = _Watched(candidate)
    try:
        check.run(watched, np.random.default_rng(seed))
        return CheckResult.of(check, "passed")
    except CandidateLostError:
        raise
    except CheckFailure as failure:
        failed = CheckResult.of(check, failure.status, failure.message, failure.misconception)
    except StudentError as error:
        failed = CheckResult.of(check, "error", f"`{check.function}` raised {error}")
    except Exception as error:  # an object that misbehaves when it is looked at, or a fault in the check
        message = f"What `{check.function}` returned could not be judged ({type(error).__name__})."
        failed = CheckResult.of(check, "error", message)
    if watched.raised and watched.raised.is_a("NotImplementedError"):
        message = f"`{check.function}` is not written yet; its cell says: {watched.raised.message}"
        failed = CheckResult.of(check, "error", message, written=False)
    # A part of it may be what the student's code raised or returned.
    return replace(failed, message=failed.message.each(readable))


class _Watched:
    """A candidate that remembers what its functions raised last."""

    def __init__(self, candidate: Candidate) -> None:
        self._candidate = candidate
        self.raised: StudentError | None = None

    def call(self, function: str, /, *arguments: object, **keywords: object) -> Call:
        """See `Candidate.call`."""
        try:
            return self._candidate.call(function, *arguments, **keywords)
        except StudentError as error:
            self.raised = error
            raise
