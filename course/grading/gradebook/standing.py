"""How a notebook stands in the gradebook: automatic points and those of persons, less the late penalty."""

from dataclasses import replace
from typing import Any

from course.grading.records import Record, Status


def as_it_stands(record: Record, entry: Any | None) -> Record:
    """The record with the status and the score that its rows in the gradebook give it, less the late penalty.

    Graded is what has points in each cell, whoever gave them; of a notebook without automatic points nothing
    counts before that.
    """
    grades = [] if entry is None else list(entry.grades)
    penalty = 0.0 if entry is None else entry.late_submission_penalty or 0.0
    score = max(0.0, score_of(grades) - penalty)
    if grades and all(given(grade.auto_score) or given(grade.manual_score) for grade in grades):
        return replace(record, status=Status.GRADED, score=score)
    if record.status == Status.MISSING:
        return replace(record, score=None)
    if record.cells:
        return replace(record, status=Status.NEEDS_PERSON, score=score)
    return replace(record, status=Status.FAILED, score=None)


def score_of(grades: list[Any]) -> float:
    """The points of these cells as nbgrader counts them, without asking the database."""
    return float(sum(map(_points, grades)))


def given(points: float | None) -> bool:
    """Whether there are points: 0 are some, too."""
    return points is not None


def _points(grade: Any) -> float:
    points = grade.auto_score if grade.manual_score is None else grade.manual_score
    return 0.0 if points is None else float(points + (grade.extra_credit or 0.0))
