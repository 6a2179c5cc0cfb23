"""A question as an instant quiz, for the self-study notebooks."""

from __future__ import annotations

from typing import Any

from jupyterquiz import display_quiz
from nbconvert.filters.markdown import markdown2html

from course.questions import Question, find_question

# Where the package's own colours vanish in a dark theme, JupyterLab's take their place.
COLOURS = {
    "--jq-multiple-choice-bg": "#2f4f73",
    "--jq-numeric-bg": "#2f4f73",
    "--jq-text-color": "#fafafa",
    "--jq-mc-button-bg": "#fafafa",
    "--jq-mc-button-border": "#8a9bb0",
    "--jq-mc-button-inset-shadow": "#555555",
    "--jq-numeric-input-bg": "#4a5a6c",
    "--jq-numeric-input-label": "var(--jp-content-font-color1, #212121)",
    "--jq-numeric-input-shadow": "#999999",
    "--jq-correct-color": "var(--jp-success-color1, #1b7f3b)",
    "--jq-incorrect-color": "var(--jp-error-color1, #c62828)",
    "--jq-link-color": "#9abafa",
}


def quiz(question_id: str) -> None:
    """Show a question under the cell; an answer is met at once with why it is right or what went wrong."""
    display_quiz([as_jupyterquiz(find_question(question_id))], border_radius=6, colors=COLOURS)


def as_jupyterquiz(question: Question) -> dict[str, Any]:
    """The question in the format of the jupyterquiz package."""
    text = _html(question.text)
    if question.kind == "choice":
        answers = [
            {
                "answer": _html(option.text),
                "correct": option.correct,
                "feedback": _said(option.correct, option.why),
            }
            for option in question.options
        ]
        return {"question": text, "type": "multiple_choice", "answers": answers}
    low, high = question.answer - question.tolerance, question.answer + question.tolerance
    place = {"type": "range", "range": [low, high]} if question.tolerance else _value(question.answer)
    answers = [
        {**place, "correct": True, "feedback": _said(True, question.why)},
        *(
            _value(slip.value) | {"correct": False, "feedback": _said(False, slip.why)}
            for slip in question.slips
        ),
        {"type": "default", "feedback": _said(False, "Go through it again, step by step.")},
    ]
    return {"question": text, "type": "numeric", "answers": answers}


def _value(number: float) -> dict[str, Any]:
    return {"type": "value", "value": number}


def _said(right: bool, why: str) -> str:
    """An explanation that opens with the verdict, so that it is not told by colour alone."""
    return _html(f"{'Right.' if right else 'Not this one.'} {why.strip()}")


def _html(markdown: str) -> str:
    """Markdown as HTML, so that a token like `<start>` is shown and not taken for a tag."""
    return str(markdown2html(markdown.strip())).strip()
