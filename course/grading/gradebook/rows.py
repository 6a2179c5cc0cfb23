"""Finds a notebook's rows in nbgrader's gradebook in few queries."""

from dataclasses import dataclass, field
from typing import Any

from nbgrader.api import (
    Assignment,
    BaseCell,
    GradeCell,
    Notebook,
    SolutionCell,
    SubmittedAssignment,
    SubmittedNotebook,
    TaskCell,
)
from sqlalchemy import select
from sqlalchemy.orm import Session, contains_eager, scoped_session, selectinload

from course.grading.gradebook.standing import given

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
