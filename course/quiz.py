"""A question as an instant quiz, for the self-study notebooks."""

from __future__ import annotations

from typing import Any

from jupyterquiz import display_quiz
from nbconvert.filters.markdown import markdown2html

from course.questions import Question, find_question


def quiz(question_id: str) -> None:
    """Show a question under the cell; an answer is met at once with why it is right or what went wrong."""
    display_quiz([as_jupyterquiz(find_question(question_id))], border_radius=6)


def as_jupyterquiz(question: Question) -> dict[str, Any]:
    """The question in the format of the jupyterquiz package."""
    text = _html(question.text)
    if question.kind == "choice":
        answers: list[dict[str, Any]] = [
            {"answer": _html(option.text), "correct": option.correct, "feedback": option.why.strip()}
            for option in question.options
        ]
        return {"question": text, "type": "multiple_choice", "answers": answers}
    low, high = question.answer - question.tolerance, question.answer + question.tolerance
    right = {"type": "range", "range": [low, high], "correct": True, "feedback": question.why.strip()}
    if not question.tolerance:
        right = {"type": "value", "value": question.answer, "correct": True, "feedback": question.why.strip()}
    answers = [right]
    answers += [
        {"type": "value", "value": slip.value, "correct": False, "feedback": slip.why.strip()}
        for slip in question.slips
    ]
    answers.append({"type": "default", "feedback": "Not this one. Count again, step by step."})
    return {"question": text, "type": "numeric", "answers": answers}


def _html(markdown: str) -> str:
    return str(markdown2html(markdown.strip())).strip()
