"""Named checks: what one is, how it fails, and how it is run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from textwrap import fill
from typing import Literal

import numpy as np

from course.checks.candidate import Candidate, StudentError

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
    """

    challenge: str
    name: str
    function: str
    points: int
    max_points: int
    status: Status
    misconception: str | None = None
    message: str = ""


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
    """Run one check on inputs drawn from `seed`. Whatever the candidate does, the answer is a CheckResult."""

    def result(
        points: int, status: Status, misconception: str | None = None, message: str = ""
    ) -> CheckResult:
        return CheckResult(
            check.challenge, check.name, check.function, points, check.points, status, misconception, message
        )

    try:
        check.run(candidate, np.random.default_rng(seed))
    except CheckFailure as failure:
        return result(0, failure.status, failure.misconception, str(failure))
    except StudentError as error:
        return result(0, "error", None, f"`{check.function}` raised {error}")
    except Exception as error:  # an object that misbehaves when it is looked at, or a fault in the check
        message = f"What `{check.function}` returned could not be judged ({type(error).__name__})."
        return result(0, "error", None, message)
    return result(check.points, "passed")
