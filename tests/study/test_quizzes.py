"""Questions in self-study: each answer is met with a word, and a right one is kept."""

import ipywidgets
import pytest

from course.questions import Question, load_questions
from course.study import store
from course.study.quizzes import answer_to, answering, as_html

QUESTIONS = {question.id: question for question in load_questions()}
CHOICE = next(question for question in QUESTIONS.values() if question.kind == "choice")
NUMERIC = next(question for question in QUESTIONS.values() if question.kind == "numeric")


def right(question: Question) -> object:
    return question.letter if question.kind == "choice" else question.answer


def parts(question: Question) -> tuple[dict[str, ipywidgets.Widget], ipywidgets.HTML]:
    """The controls by what stands on them, and the verdict below."""
    controls, verdict = answering(question).children
    return {control.description: control for control in controls.children}, verdict


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_one_answer_is_right_and_each_has_a_word(question: Question) -> None:
    """Bug: a question that takes a wrong answer, or says nothing about one."""
    wrong = [*question.lettered, *(slip.value for slip in question.slips)]
    wrong = [answer for answer in wrong if answer != right(question)]
    said = [answer_to(question, answer) for answer in wrong]
    assert all("is not it." in text and "✗" in text for text in said)
    assert len(set(said)) == len(said)
    assert store.read().entries == {}
    assert "Right. " in answer_to(question, right(question))
    assert list(store.read().entries) == [f"question/{question.id}"]


def test_a_click_on_a_letter_answers() -> None:
    """Bug: every button gives the last one's answer."""
    controls, verdict = parts(CHOICE)
    assert list(controls) == list(CHOICE.lettered)
    for letter, button in controls.items():
        button.click()
        assert ("Right. " if letter == CHOICE.letter else f"{letter} is not it.") in verdict.value


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (f"{NUMERIC.answer:g}", "Right."),
        (f" {NUMERIC.answer:.1f} ".replace(".", ","), "Right."),
        ("many", "Type a number"),
        ("<b>", "Type a number"),
        ("nan", "is not it."),
        ("1e999", "is not it."),
    ],
)
def test_whatever_is_typed_is_met_with_a_sentence(typed: str, said: str) -> None:
    """Bug: an answer that is no number, or one with a comma, ends in a traceback or in silence."""
    controls, verdict = parts(NUMERIC)
    *_, button = controls.values()
    field = next(iter(controls.values()))
    field.value = typed
    button.click()
    assert said in verdict.value
    assert "<b>" not in verdict.value


def test_an_empty_field_is_no_answer() -> None:
    """Bug: a reader who only tabs through the page is told that they are wrong."""
    controls, verdict = parts(NUMERIC)
    controls["Check"].click()
    assert verdict.value == ""


def test_a_question_that_was_answered_says_so() -> None:
    """Bug: a reader who comes back cannot tell which questions are done."""
    answer_to(CHOICE, CHOICE.letter)
    assert "Answered right before." in parts(CHOICE)[1].value


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_the_question_can_be_read_where_no_widget_runs(question: Question) -> None:
    """Bug: options that only exist on buttons, or a token like `<start>` that is taken for a tag."""
    html = as_html(question)
    assert "<start>" not in html
    assert "<end>" not in html
    assert all(f"<strong>{letter}.</strong>" in html for letter in question.lettered)
    assert all(option.why[:40] not in html for option in question.options)
