"""Gives the points: runs each check against the notebook at work, and looks at each answer."""

import time

from course.checks import Call, StudentError, find_check, run_check
from course.checks.answers import problem_with
from course.grading.jobs import messages
from course.grading.jobs.session import ExhaustedError, Session
from course.grading.limits import Limits
from course.grading.masters import Test
from course.grading.records import CellResult
from course.grading.sandbox import SandboxedCandidate, Worker, WorkerEndedError
from course.questions import find_question
from course.text import readable

LONGEST_MESSAGE = 8_000


def mark(tests: tuple[Test, ...], session: Session, limits: Limits, seed: int) -> tuple[CellResult, ...]:
    """How each graded cell ended. One that ends the worker, or runs too long, costs itself only."""
    return _Marking(tests, session, limits, seed).results()


class _Marking:
    def __init__(self, tests: tuple[Test, ...], session: Session, limits: Limits, seed: int) -> None:
        self._tests, self._session, self._limits, self._seed = tests, session, limits, seed
        self._left = limits.checks_seconds
        self._waiting = sum(test.kind != "manual" for test in tests)

    def results(self) -> tuple[CellResult, ...]:
        return tuple(self._result(test) for test in self._tests)

    def _result(self, test: Test) -> CellResult:
        if test.kind == "manual":
            return CellResult(test.cell, test.cell, None, None, test.points, "manual")
        self._waiting -= 1
        # What later checks are sure to get is kept back.
        least = self._limits.least_seconds
        seconds = max(least, self._left - least * self._waiting)
        try:
            worker = self._session.worker()
        except ExhaustedError:
            return self._error(test, messages.ENDS_TOO_OFTEN)
        start = time.monotonic()
        candidate = _TimedCandidate(worker, test, self._limits.call_seconds, seconds)
        try:
            return self._check(test, candidate) if test.check else self._answer(test, worker)
        except WorkerEndedError as error:
            self._session.lost()
            return self._error(test, messages.check_lost(error, candidate.seconds))
        finally:
            self._left -= time.monotonic() - start

    def _check(self, test: Test, candidate: "_TimedCandidate") -> CellResult:
        check = find_check(str(test.challenge), str(test.check))
        result = run_check(check, candidate, self._seed)
        points = test.points if result.status == "passed" else 0.0
        message = readable(result.message, LONGEST_MESSAGE)
        return CellResult(
            test.cell,
            check.name,
            check.challenge,
            points,
            test.points,
            result.status,
            result.misconception,
            message,
        )

    def _answer(self, test: Test, worker: Worker) -> CellResult:
        question, variable = find_question(str(test.question)), str(test.answer)
        try:
            answer = worker.value(variable, self._limits.call_seconds)
        except StudentError:
            return self._error(test, messages.not_defined(variable))
        problem = problem_with(question, answer)
        name = f"question {question.number}"
        if problem is None:
            return CellResult(test.cell, name, None, test.points, test.points, "passed")
        message = readable(problem, LONGEST_MESSAGE)
        return CellResult(test.cell, name, None, 0.0, test.points, "failed", message=message)

    def _error(self, test: Test, message: str) -> CellResult:
        name = test.check or f"question {find_question(str(test.question)).number}"
        return CellResult(test.cell, name, test.challenge, 0.0, test.points, "error", message=message)


class _TimedCandidate:
    """A candidate for one check: each of its calls has its limit, and all of them together have one.

    most : seconds of one call.
    together : seconds of all.
    seconds : that the last call had.
    """

    def __init__(self, worker: Worker, test: Test, most: float, together: float) -> None:
        self._worker, self._names, self._most = worker, test.functions, most
        self._end = time.monotonic() + together
        self.seconds = most

    def call(self, function: str, /, *arguments: object, **keywords: object) -> Call:
        """See `course.checks.Candidate.call`. Raises WorkerEndedError as well."""
        self.seconds = max(0.0, min(self._most, self._end - time.monotonic()))
        candidate = SandboxedCandidate(self._worker, self.seconds, self._names)
        return candidate.call(function, *arguments, **keywords)
