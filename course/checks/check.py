"""Named checks: what one is, how it fails, and how it is run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from textwrap import fill
from typing import Literal

import numpy as np

from course.checks.candidate import Call, Candidate, CandidateLostError, StudentError
from course.text import readable

Status = Literal["passed", "failed", "error"]
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

    status : "passed", "failed" (a wrong answer) or "error" (the function raised, or could not be judged).
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
    message: str = ""
    written: bool = True


class CheckFailure(Exception):  # noqa: N818 - it is what a check reports, not an error in it
    """A check found something wrong. Its text is what the student reads.

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
        self.sentence = sentence
        self.misconception = misconception
        self.status: Literal["failed", "error"] = status
        labelled = {
            "Smallest case": case,
            "the model": model,
            "expected": expected,
            "got": got,
            "Read again": section,
        }
        lines = [f"{label + ':':<14} {text}" for label, text in labelled.items() if text]
        super().__init__("\n".join([fill(sentence, 100), *lines]))


def run_check(check: Check, candidate: Candidate, seed: int) -> CheckResult:
    """Run one check on inputs drawn from `seed`. Whatever the candidate does, the answer is a CheckResult.

    Raises CandidateLostError where the candidate runs elsewhere, and is gone.
    """

    def result(
        points: int, status: Status, misconception: str | None = None, message: str = ""
    ) -> CheckResult:
        told = readable(message)  # a part of it may be what the student's code raised or returned
        return CheckResult(
            check.challenge, check.name, check.function, points, check.points, status, misconception, told
        )

    watched = _Watched(candidate)
    try:
        check.run(watched, np.random.default_rng(seed))
        return result(check.points, "passed")
    except CandidateLostError:
        raise
    except CheckFailure as failure:
        failed = result(0, failure.status, failure.misconception, str(failure))
    except StudentError as error:
        failed = result(0, "error", None, f"`{check.function}` raised {error}")
    except Exception as error:  # an object that misbehaves when it is looked at, or a fault in the check
        message = f"What `{check.function}` returned could not be judged ({type(error).__name__})."
        failed = result(0, "error", None, message)
    if watched.raised is None or not watched.raised.is_a("NotImplementedError"):
        return failed
    message = f"`{check.function}` is not written yet; its cell says: {watched.raised.message}"
    return replace(result(0, "error", None, message), written=False)


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
