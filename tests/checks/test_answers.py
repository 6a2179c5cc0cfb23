"""Answers to questions: what is right, what is explained, and what is said about the rest."""

import numpy as np
import pytest

from course.checks import NotPassedError, require_answer
from course.checks.answers import problem_with
from course.questions import load_questions

QUESTIONS = load_questions()
CHOICE = next(question for question in QUESTIONS if question.kind == "choice")
NUMERIC = next(question for question in QUESTIONS if question.kind == "numeric")


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.id)
def test_the_right_answer_passes_and_every_other_one_is_explained(question) -> None:
    """Bug: a question that takes a wrong answer, or leaves one unexplained."""
    if question.kind == "choice":
        for letter, option in question.lettered.items():
            problem = problem_with(question, letter)
            assert problem is None if option.correct else option.why.strip() in str(problem)
    else:
        assert problem_with(question, question.answer) is None
        for slip in question.slips:
            assert slip.why.strip() in str(problem_with(question, slip.value))
        assert "is not it" in str(problem_with(question, 1e9))


@pytest.mark.parametrize("answer", [CHOICE.letter.lower(), f" {CHOICE.letter} ", np.str_(CHOICE.letter)])
def test_a_letter_is_read_as_people_write_it(answer) -> None:
    """Bug: a small letter or a space costs a point."""
    assert problem_with(CHOICE, answer) is None


@pytest.mark.parametrize("answer", [40, 40.0, np.int64(40), np.float32(40)])
def test_a_number_of_any_type_is_a_number(answer) -> None:
    """Bug: a NumPy number costs a point."""
    assert problem_with(NUMERIC, answer) is None


class Agreeable:
    """Equal to everything."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize("answer", ["40 ", [CHOICE.letter], True, float("nan"), Agreeable(), {}, b"A", 1j])
@pytest.mark.parametrize("question", [CHOICE, NUMERIC], ids=["choice", "numeric"])
def test_another_type_gets_a_sentence_and_no_point(question, answer) -> None:
    """Bug: a wrong type gains the point, or ends in a traceback that says nothing."""
    assert "it" in str(problem_with(question, answer))


def test_a_missing_answer_is_called_missing() -> None:
    """Bug: an untouched cell is told that None is a wrong type."""
    assert "no answer yet" in str(problem_with(CHOICE, None))
    assert "no answer yet" in str(problem_with(NUMERIC, None))


def test_the_door_raises_the_explanation_and_prints_the_pass(capsys) -> None:
    """Bug: a graded cell that passes whatever the answer is."""
    require_answer(NUMERIC.id, NUMERIC.answer)
    assert "passed: question 1" in capsys.readouterr().out
    with pytest.raises(NotPassedError, match="0 of 1 point"):
        require_answer(NUMERIC.id, NUMERIC.slips[0].value)
