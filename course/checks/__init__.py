"""The hidden checks, and their door for notebook cells: `require`.

A check is written once, against a `Candidate`. In a notebook the candidate is the function itself; in grading
it stands for a sandboxed process.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from course.checks.answers import problem_with
from course.checks.candidate import Call, Candidate, DirectCandidate, StudentError
from course.checks.check import Check, CheckFailure, CheckResult, run_check
from course.checks.registry import CHALLENGES, checks_of, find_check
from course.questions import find_question
from course.text import lines

__all__ = [
    "CHALLENGES",
    "Call",
    "Candidate",
    "Check",
    "CheckFailure",
    "CheckResult",
    "DirectCandidate",
    "NotPassedError",
    "StudentError",
    "checks_of",
    "find_check",
    "require",
    "require_answer",
    "run_check",
]

NOTEBOOK_SEED = 5  # inputs are the same at each run of a cell
SEED_VARIABLE = "COURSE_CHECK_SEED"  # grading sets another one, so that fitting the open checks is of no use


class NotPassedError(AssertionError):
    """A check that did not pass. It is shown as its message alone, without the source of the checks."""

    def _render_traceback_(self) -> list[str]:
        """What IPython shows in place of a traceback."""
        return lines(str(self))


def require(challenge: str, check: str, /, **functions: Callable[..., object]) -> None:
    """Run one check on functions of this notebook: `require("generation_loop", "greedy", generate=generate)`.

    Prints one line where it passes; raises NotPassedError, an AssertionError, with the authored message where
    it does not. KeyError for a challenge or a check that does not exist.
    """
    __tracebackhide__ = True
    found = find_check(challenge, check)
    seed = int(os.environ.get(SEED_VARIABLE, NOTEBOOK_SEED))
    result = run_check(found, DirectCandidate(functions), seed)
    unit = "point" if result.max_points == 1 else "points"
    if result.status != "passed":
        raise NotPassedError(f"{check} (0 of {result.max_points} {unit})\n{result.message}") from None
    print(f"passed: {check} ({result.points} {unit})")


def require_answer(question_id: str, answer: object) -> None:
    """Check the answer to a question: `require_answer("which-row-predicts", answer)`.

    Prints one line where it is right; raises NotPassedError with the explanation where it is not.
    KeyError for a question that does not exist.
    """
    __tracebackhide__ = True
    question = find_question(question_id)
    problem = problem_with(question, answer)
    if problem:
        raise NotPassedError(f"question {question.number} (0 of 1 point)\n{problem}") from None
    print(f"passed: question {question.number} (1 point)")
