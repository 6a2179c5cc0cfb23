"""Finds a notebook's rows in nbgrader's gradebook in few queries."""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from nbgrader.api import (
    Assignment,
    BaseCell,
    Grade,
    GradeCell,
    Notebook,
    SolutionCell,
    SubmittedAssignment,
    SubmittedNotebook,
    TaskCell,
)
from sqlalchemy import select
from sqlalchemy.orm import Session, contains_eager, scoped_session, selectinload

from course.grading.records import Key
from course.grading.standing import NO_ROWS, Given, ManualMarks, Place

Database = Session | scoped_session[Session]


@dataclass(frozen=True)
class Known:
    """A notebook as the gradebook has it: its id, that of its assignment, and its cells.

    graded, commented : grade_ids of the cells with points, and of those with a comment, by the cell's id.
    max_scores : by grade_id.
    """

    notebook: str
    assignment: str
    graded: dict[str, str] = field(default_factory=dict)
    max_scores: dict[str, float] = field(default_factory=dict)
    commented: dict[str, str] = field(default_factory=dict)


def read_known(db: Database) -> dict[tuple[str, str], Known]:
    """Every notebook that the gradebook has, by the names of its assignment and its own."""
    notebooks = select(Notebook.id, Notebook.name, Assignment.id, Assignment.name).join(Assignment)
    known = {
        notebook_id: ((assignment, notebook), Known(notebook_id, assignment_id))
        for notebook_id, notebook, assignment_id, assignment in db.execute(notebooks)
    }
    for cell in db.scalars(select(BaseCell).where(BaseCell.notebook_id.in_(known))):
        _, about = known[cell.notebook_id]
        if isinstance(cell, GradeCell | TaskCell):
            about.graded[cell.id] = cell.name
            about.max_scores[cell.name] = cell.max_score
        if isinstance(cell, SolutionCell | TaskCell):
            about.commented[cell.id] = cell.name
    return dict(known.values())


def find_entry(db: Database, student: str, known: Known) -> Any | None:
    """A student's row for a notebook with all that belongs to it, in three queries whatever its size."""
    rows = (
        select(SubmittedNotebook)
        .join(SubmittedNotebook.assignment)
        .where(SubmittedNotebook.notebook_id == known.notebook, SubmittedAssignment.student_id == student)
        .options(
            contains_eager(SubmittedNotebook.assignment).joinedload(SubmittedAssignment.assignment),
            selectinload(SubmittedNotebook.grades),
            selectinload(SubmittedNotebook.comments),
        )
    )
    return db.scalars(rows).one_or_none()


def given_by_person(entry: Any) -> bool:
    """Whether somebody gave points or a comment for a row, or put a flag on it."""
    marks = any(given(grade.manual_score) or given(grade.extra_credit) for grade in entry.grades)
    return bool(marks or entry.flagged or any(comment.manual_comment for comment in entry.comments))


def read_class(db: Database) -> Given:
    """What the gradebook holds of every notebook, without comments; three queries for any class."""
    cells: dict[Place, dict[str, float]] = {
        place: dict(known.max_scores) for place, known in read_known(db).items()
    }
    scores: dict[Key, dict[str, float]] = defaultdict(dict)
    extra: dict[Key, dict[str, float]] = defaultdict(dict)
    automatic: dict[Key, dict[str, float | None]] = defaultdict(dict)
    whose = (SubmittedAssignment.student_id, Assignment.name, Notebook.name)
    notebooks = (
        select(*whose, SubmittedNotebook.late_submission_penalty)
        .select_from(SubmittedNotebook)
        .join(Notebook, SubmittedNotebook.notebook_id == Notebook.id)
        .join(SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .join(Assignment, SubmittedAssignment.assignment_id == Assignment.id)
    )
    grades = (
        notebooks.join(Grade, Grade.notebook_id == SubmittedNotebook.id)
        .join(BaseCell, Grade.cell_id == BaseCell.id)
        .with_only_columns(*whose, BaseCell.name, Grade.auto_score, Grade.manual_score, Grade.extra_credit)
    )
    for student, assignment, notebook, cell, points, score, credit in db.execute(grades):
        key = student, assignment, notebook
        automatic[key][cell] = points
        if score is not None:
            scores[key][cell] = score
        if credit:
            extra[key][cell] = credit
    manual = {
        key: ManualMarks(scores[key], extra[key], {}, penalty or 0.0, automatic[key])
        for *names, penalty in db.execute(notebooks)
        if (key := (names[0], names[1], names[2]))
    }
    return Given(manual, cells)


def held_by(entry: Any | None, known: Known) -> ManualMarks:
    """What one row of the gradebook holds."""
    if entry is None:
        return NO_ROWS
    grades = {name: each for each in entry.grades if (name := known.graded.get(each.cell_id))}
    comments = {name: each for each in entry.comments if (name := known.commented.get(each.cell_id))}
    return ManualMarks(
        {name: each.manual_score for name, each in grades.items() if given(each.manual_score)},
        {name: each.extra_credit for name, each in grades.items() if each.extra_credit},
        {name: each.manual_comment for name, each in comments.items() if each.manual_comment},
        entry.late_submission_penalty or 0.0,
        {name: each.auto_score for name, each in grades.items()},
    )


def score_of(grades: list[Any]) -> float:
    """The points of these cells as nbgrader counts them, without asking the database."""
    return float(sum(map(_points, grades)))


def given(points: float | None) -> bool:
    """Whether there are points: 0 are some, too."""
    return points is not None


def _points(grade: Any) -> float:
    points = grade.auto_score if grade.manual_score is None else grade.manual_score
    return 0.0 if points is None else float(points + (grade.extra_credit or 0.0))
