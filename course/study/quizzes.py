"""A question that answers back, for the self-study notebooks."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

import ipywidgets
from IPython.display import HTML

from course.checks.answers import problem_with
from course.questions import Question, find_question
from course.study import store, style, tally
from course.study.showing import show


def quiz(question_id: str) -> None:
    """Show a question under the cell; an answer is met at once with why it is right or what went wrong.

    A right answer is kept. KeyError for a question that does not exist.
    """
    question = find_question(question_id)
    show(HTML(as_html(question)), answering(question))  # type: ignore[no-untyped-call]


def as_html(question: Question) -> str:
    """The question without the means to answer it, so that it can be read where no widget runs."""
    options = "".join(
        f'<li style="list-style:none;margin:0.4em 0"><strong>{letter}.</strong> {inline(option.text)}</li>'
        for letter, option in question.lettered.items()
    )
    return (
        f'<div class="course-question" style="max-width:50em">{markdown(question.text)}'
        + (f'<ul style="padding-left:0">{options}</ul>' if options else "")
        + "</div>"
    )


def answering(question: Question) -> ipywidgets.VBox:
    """A button a letter, or a field for a number; below them what there is to say about the answer."""
    verdict = ipywidgets.HTML()
    kept = store.read()
    if tally.is_answered(question, kept):
        verdict.value = _shown(style.NEUTRAL, "✓", "Answered right before.")
    elif (earlier := tally.earlier_answer(question, kept)) is not None:
        verdict.value = _shown(
            style.NEUTRAL, "!", f"The question has changed since you answered it. Your answer was: {earlier}"
        )

    def answered(answer: object) -> None:
        verdict.value = answer_to(question, answer)

    def typed(text: str) -> None:
        try:
            answered(float(text.replace(",", ".")))  # a decimal comma is as good as a point
        except ValueError:
            verdict.value = _shown(style.NEUTRAL, "!", "Type a number, like 12 or 0.5.")

    controls = _letters(question, answered) if question.kind == "choice" else _number(question, typed)
    return ipywidgets.VBox([controls, verdict])


def answer_to(question: Question, answer: object) -> str:
    """What to say to an answer, as HTML; a right one is kept."""
    problem = problem_with(question, answer)
    if problem is not None:
        return _shown(style.BAD, "✗", problem)
    why = question.lettered[question.letter].why if question.kind == "choice" else question.why
    given = question.lettered[question.letter].text if question.kind == "choice" else f"{answer}"
    kept = store.add(tally.question_key(question.id), 1, store.Answer(question.asked, given.strip()))
    return _shown(style.GOOD, "✓", f"Right. {why.strip()}", *kept.notes)


def _letters(question: Question, answered: Callable[[object], None]) -> ipywidgets.Widget:
    def button(letter: str) -> ipywidgets.Button:
        made = ipywidgets.Button(description=letter, tooltip=f"Answer {letter}", layout={"width": "3.5em"})
        made.on_click(lambda _: answered(letter))
        return made

    buttons = [button(letter) for letter in question.lettered]
    return ipywidgets.HBox(buttons, layout={"flex_flow": "row wrap"})


def _number(question: Question, typed: Callable[[str], None]) -> ipywidgets.Widget:
    field = ipywidgets.Text(
        description=f"Answer in {question.unit}:" if question.unit else "Answer:",
        continuous_update=False,
        style={"description_width": "initial"},
        layout={"width": "18em", "max_width": "95%"},
    )
    button = ipywidgets.Button(description="Check", layout={"width": "6em"})

    def judge(_: Any) -> None:
        if field.value.strip():
            typed(field.value.strip())

    field.observe(judge, names="value")  # after Enter, and when the field is left
    button.on_click(judge)
    return ipywidgets.HBox([field, button], layout={"flex_flow": "row wrap"})


def _shown(colour: str, sign: str, *texts: str) -> str:
    """A verdict, announced by screen readers when it appears."""
    first, *notes = texts
    text = f"{style.sign(colour, sign)} {inline(first)}"
    return style.panel(colour, 'role="alert"', text, *map(escape, notes))


def markdown(text: str) -> str:
    """Markdown as HTML, so that a token like `<start>` is shown and not taken for a tag."""
    from nbconvert.filters.markdown import markdown2html  # here, because it takes half a second to load

    return str(markdown2html(text.strip())).strip()


def inline(text: str) -> str:
    """The same for a single paragraph, without its own <p>."""
    return markdown(text).removeprefix("<p>").removesuffix("</p>")
