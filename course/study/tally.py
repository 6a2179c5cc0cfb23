"""What has been passed of what there is, by challenge and by section."""

from __future__ import annotations

from dataclasses import dataclass

from course.checks import checks_of
from course.questions import Question, load_questions
from course.study.places import Section, section_of, sections
from course.study.store import Kept
from course.study.style import of


@dataclass(frozen=True)
class Count:
    """Something to pass, how much of it is passed, and its points."""

    passed: int = 0
    all: int = 0
    points: int = 0
    max_points: int = 0

    def __add__(self, other: Count) -> Count:
        return Count(
            self.passed + other.passed,
            self.all + other.all,
            self.points + other.points,
            self.max_points + other.max_points,
        )


@dataclass(frozen=True)
class Standing:
    """How far a reader is in one section."""

    section: Section
    questions: Count
    checks: Count

    @property
    def whole(self) -> Count:
        """Questions and checks together."""
        return self.questions + self.checks


def check_key(challenge: str, name: str) -> str:
    """What a check is kept under."""
    return f"{challenge}/{name}"


def question_key(question_id: str) -> str:
    """What a question is kept under."""
    return f"question/{question_id}"


def is_answered(question: Question, kept: Kept) -> bool:
    """Whether a question was answered right as it is asked now."""
    key = question_key(question.id)
    return key in kept.entries and earlier_answer(question, kept) is None


def earlier_answer(question: Question, kept: Kept) -> str | None:
    """The answer to an earlier wording of a question, which counts no more; None if there is none."""
    answer = kept.answers.get(question_key(question.id))
    return answer.text if answer is not None and answer.asked != question.asked else None


def count(worth: dict[str, int], kept: Kept) -> Count:
    """What is kept of `worth`, points by key. Points are today's, whatever they were when it was passed."""
    passed = [points for key, points in worth.items() if key in kept.entries]
    return Count(len(passed), len(worth), sum(passed), sum(worth.values()))


def challenge_count(challenge: str, kept: Kept) -> Count:
    """How far a reader is in one challenge."""
    return count({check_key(challenge, check.name): check.points for check in checks_of(challenge)}, kept)


def so_far(challenge: str, kept: Kept) -> str:
    """How a challenge stands, in a sentence."""
    section = section_of(challenge)
    label = section.challenge_label if section else challenge
    done = challenge_count(challenge, kept)
    return (
        f"{label} so far: {of(done.points, done.max_points, 'point')}, "
        f"{done.passed} of {done.all} checks passed."
    )


def standings(kept: Kept) -> list[Standing]:
    """How far a reader is in each section."""
    asked = load_questions()
    return [
        Standing(
            section,
            _questions([question for question in asked if question.section == section.number], kept),
            challenge_count(section.challenge, kept) if section.challenge else Count(),
        )
        for section in sections()
    ]


def _questions(asked: list[Question], kept: Kept) -> Count:
    answered = sum(is_answered(question, kept) for question in asked)
    return Count(answered, len(asked), answered, len(asked))
