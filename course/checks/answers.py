"""Answers to the questions: right, or the explanation of the misunderstanding behind the wrong one."""

from __future__ import annotations

from math import inf
from numbers import Real

from course.questions import Question


def problem_with(question: Question, answer: object) -> str | None:
    """What to tell a reader about an answer, or None where it is right. Takes any object and never raises."""
    return (
        _letter_problem(question, answer) if question.kind == "choice" else _number_problem(question, answer)
    )


def _letter_problem(question: Question, answer: object) -> str | None:
    letters = ", ".join(question.lettered)
    if answer is None:
        return f"There is no answer yet; type one of the letters {letters} in quotes."
    letter = str.__str__(answer).strip().upper() if isinstance(answer, str) else ""
    if letter not in question.lettered:
        return f'The answer is {_shown(answer)}; it must be one of the letters {letters} in quotes, like "A".'
    option = question.lettered[letter]
    return None if option.correct else f"{letter} is not it. {option.why.strip()}"


def _number_problem(question: Question, answer: object) -> str | None:
    if answer is None:
        return "There is no answer yet; type a number."
    if isinstance(answer, bool) or not isinstance(answer, Real):
        return f"The answer is {_shown(answer)}; it must be a number without quotes, like 12."
    try:
        number = float(answer)
    except OverflowError:  # an integer that no float can hold
        number = inf
    if abs(number - question.answer) <= question.tolerance:
        return None
    for slip in question.slips:
        if abs(number - slip.value) <= question.tolerance:
            return f"{number:g} is not it. {slip.why.strip()}"
    return f"{number:g} is not it. Read the section's counts again, step by step."


def _shown(answer: object) -> str:
    kind = type(answer).__name__
    try:
        text = repr(answer) if isinstance(answer, str | int | float | list | tuple) else kind
    except ValueError:  # Python does not write out an integer of very many digits
        text = f"of type {kind}"
    return text if len(text) <= 60 else text[:60] + "..."
