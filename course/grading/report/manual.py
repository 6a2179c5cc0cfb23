"""What persons gave a whole class, read from nbgrader's gradebook at once."""

from __future__ import annotations

from collections import defaultdict

from nbgrader.api import (
    Assignment,
    BaseCell,
    Grade,
    Gradebook,
    GradeCell,
    Notebook,
    SubmittedAssignment,
    SubmittedNotebook,
    TaskCell,
)
from sqlalchemy import or_, select

from course.grading.gradebook.database import in_sentences, open_gradebook
from course.grading.gradebook.writer import ManualMarks
from course.grading.records import Key
from course.grading.report.summary import Given, Place


def given_by_persons(db_url: str, course_id: str) -> Given:
    """The marks by hand and the penalties of every notebook, without comments; three queries for any class.

    Raises GradingError if the gradebook cannot be read.
    """
    gradebook = open_gradebook(db_url, course_id)
    try:
        with in_sentences(gradebook.engine.url):
            return _read(gradebook)
    finally:
        gradebook.close()


def _read(gradebook: Gradebook) -> Given:
    cells: dict[Place, dict[str, float]] = defaultdict(dict)
    for kind in (GradeCell, TaskCell):
        graded = (
            select(Assignment.name, Notebook.name, kind.name, kind.max_score)
            .select_from(kind)
            .join(Notebook, kind.notebook_id == Notebook.id)
            .join(Assignment)
        )
        for assignment, notebook, cell, maximum in gradebook.db.execute(graded):
            cells[assignment, notebook][cell] = maximum
    scores: dict[Key, dict[str, float]] = defaultdict(dict)
    extra: dict[Key, dict[str, float]] = defaultdict(dict)
    penalties: dict[Key, float] = {}
    whose = (SubmittedAssignment.student_id, Assignment.name, Notebook.name)
    late = (
        select(*whose, SubmittedNotebook.late_submission_penalty)
        .select_from(SubmittedNotebook)
        .join(Notebook, SubmittedNotebook.notebook_id == Notebook.id)
        .join(SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .join(Assignment, SubmittedAssignment.assignment_id == Assignment.id)
    )
    for *key, penalty in gradebook.db.execute(late.where(SubmittedNotebook.late_submission_penalty > 0)):
        penalties[_key(key)] = penalty
    by_hand = (
        late.join(Grade, Grade.notebook_id == SubmittedNotebook.id)
        .join(BaseCell, Grade.cell_id == BaseCell.id)
        .where(or_(Grade.manual_score.is_not(None), Grade.extra_credit > 0))
        .with_only_columns(*whose, BaseCell.name, Grade.manual_score, Grade.extra_credit)
    )
    for *key, cell, score, credit in gradebook.db.execute(by_hand):
        if score is not None:
            scores[_key(key)][cell] = score
        if credit:
            extra[_key(key)][cell] = credit
    return Given(
        {
            key: ManualMarks(scores[key], extra[key], {}, penalties.get(key, 0.0))
            for key in {*scores, *extra, *penalties}
        },
        dict(cells),
    )


def _key(parts: list[str]) -> Key:
    student, assignment, notebook = parts
    return student, assignment, notebook
