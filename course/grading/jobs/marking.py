"""Gives the points: runs each check against the notebook at work, and looks at each answer."""

from typing import Literal

from course.checks import StudentError, find_check
from course.checks.answers import problem_with
from course.checks.message import NO_MESSAGE, Message
from course.grading.jobs import messages
from course.grading.limits import Limits
from course.grading.masters import Test
from course.grading.records import CellResult
from course.grading.sandbox import CheckLostError, Session, Turns
from course.questions import find_question
from course.text import readable

LONGEST_MESSAGE = 8_000


def mark(tests: tuple[Test, ...], session: Session, limits: Limits, seed: int) -> tuple[CellResult, ...]:
    """How each graded cell ended. One that ends the worker, or runs too long, costs itself only."""
    turns = Turns(session, limits, sum(test.kind != "manual" for test in tests))
    marked = {"manual": _left_to_a_person, "check": _check, "answer": _answer}
    return tuple(marked[test.kind](test, turns, seed) for test in tests)


def _left_to_a_person(test: Test, turns: Turns, seed: int) -> CellResult:
    return CellResult(test.cell, test.cell, None, None, test.points, "manual")


def _check(test: Test, turns: Turns, seed: int) -> CellResult:
    result = turns.run(find_check(str(test.challenge), str(test.check)), seed, test.functions)
    return CellResult(
        test.cell,
        result.name,
        result.challenge,
        test.points if result.status == "passed" else 0.0,
        test.points,
        "error" if result.status == "timeout" else result.status,
        result.misconception,
        result.message.each(_readable),
    )


def _answer(test: Test, turns: Turns, seed: int) -> CellResult:
    question, variable = find_question(str(test.question)), str(test.answer)

    def result(status: Literal["passed", "failed", "error"], message: Message = NO_MESSAGE) -> CellResult:
        points = test.points if status == "passed" else 0.0
        name = f"question {question.number}"
        return CellResult(test.cell, name, None, points, test.points, status, message=message)

    try:
        with turns.next({}) as candidate:
            problem = problem_with(question, candidate.value(variable))
    except StudentError:
        return result("error", Message(messages.not_defined(variable)))
    except CheckLostError as lost:
        return result("error", Message(str(lost)))
    return result("passed") if problem is None else result("failed", Message(_readable(problem)))


def _readable(text: str) -> str:
    return readable(text, LONGEST_MESSAGE)
