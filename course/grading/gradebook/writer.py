"""Writes what grading found into nbgrader's gradebook, and reads what persons put there."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, Self, TypeVar

from nbgrader.api import (
    Assignment,
    Comment,
    Grade,
    Gradebook,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
)
from nbgrader.utils import parse_utc
from sqlalchemy import func, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import joinedload
from traitlets.config import Config

from course.grading.gradebook.database import PATIENCE, in_sentences, open_gradebook
from course.grading.gradebook.late import LatePenalties
from course.grading.gradebook.registering import register
from course.grading.gradebook.rows import Known, find_entry, given_by_person, held_by, read_known
from course.grading.masters import Master
from course.grading.records import Key, Record, Status
from course.grading.standing import Standing, standing
from course.text import storable

T = TypeVar("T")


class GradebookWriter:
    """One open gradebook for a whole run. It writes automatic scores only: what persons gave stays."""

    def __init__(self, settings: Config, db_url: str, *, patience: float = PATIENCE) -> None:
        """Open the gradebook. Raises GradingError, in a sentence, if it cannot be opened.

        patience : seconds that a write waits for another program that is writing.
        """
        self._settings = settings
        self._gradebook: Gradebook = open_gradebook(db_url, settings.CourseDirectory.course_id, patience)
        self._db = self._gradebook.db
        self._late = LatePenalties(settings)
        self._known: dict[tuple[str, str], Known] | None = None
        self._students: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the database."""
        self._gradebook.close()

    def register(self, masters: list[Master]) -> None:
        """Tell the gradebook which cells there are and what each is worth; nothing if it knows.

        Raises GradingError if it holds submissions to a notebook that had other cells.
        """
        with in_sentences(self._gradebook.engine.url):
            register(self._gradebook, masters, self._settings)
        self._known = None

    def write(self, record: Record, *, resubmitted: bool = False) -> Standing:
        """Enter the automatic scores of one record, and say how its notebook stands then.

        A failed notebook has no automatic score: formgrader lists it for a person to grade, with the reason
        as the comment. A missing one has no rows, which nbgrader would count as zeros, unless a person has
        put something there.

        resubmitted : whether the student's file is another than that a manual mark was given for; formgrader
            then asks to look at the mark again.

        Raises ValueError for points that do not belong to the cells, GradingError if the gradebook does not
        take them.
        """
        known = self._notebook(record.key)
        points = _checked_points(record, known)

        def change() -> Standing:
            entry = find_entry(self._db, record.student, known)
            self._ensure_student(record.student)
            if record.status == Status.MISSING:
                entry = self._withdraw(entry)
            else:
                entry = entry or self._new_entry(record, known)
                self._fill_in(entry, record, known, points, resubmitted)
            return _standing(record, entry, known)

        written = self._run(change, commit=True)
        self._students.add(record.student)
        return written

    def holds(self, record: Record) -> bool:
        """Whether the gradebook's automatic scores and penalty are those of the record."""
        known = self._notebook(record.key)

        def look() -> bool:
            entry = find_entry(self._db, record.student, known)
            if record.status == Status.MISSING:
                if entry is None:
                    return self._db.get(Student, record.student) is not None
                return given_by_person(entry) and all(grade.auto_score is None for grade in entry.grades)
            if entry is None:
                return False
            points = {cell.cell: cell.points for cell in record.cells}
            scores = {known.graded.get(grade.cell_id): grade.auto_score for grade in entry.grades}
            return (
                scores == {name: points.get(name) for name in known.graded.values()}
                and _moment(record.handed_in) in (None, entry.assignment.timestamp)
                and entry.late_submission_penalty == self._late.penalty(entry, record.student)
            )

        return self._run(look)

    def standing(self, record: Record) -> Standing:
        """How the notebook of a record stands in this gradebook."""
        known = self._notebook(record.key)
        return self._run(lambda: _standing(record, find_entry(self._db, record.student, known), known))

    def _run(self, work: Callable[[], T], *, commit: bool = False) -> T:
        """Do something in one transaction; once more if the connection was lost."""
        with in_sentences(self._gradebook.engine.url):
            try:
                return self._transaction(work, commit)
            except DBAPIError:
                return self._transaction(work, commit)

    def _transaction(self, work: Callable[[], T], commit: bool) -> T:
        try:
            result = work()
            if commit:
                self._db.commit()
            return result
        finally:
            self._db.rollback()  # a reader keeps nothing open either, which would hold up others

    def _notebook(self, key: Key) -> Known:
        if self._known is None:
            self._known = self._run(lambda: read_known(self._db))
        _, assignment, notebook = key
        try:
            return self._known[assignment, notebook]
        except KeyError:
            raise ValueError(f"the gradebook knows no notebook {notebook} of {assignment}") from None

    def _ensure_student(self, student: str) -> None:
        if student not in self._students and self._db.get(Student, student) is None:
            self._db.add(Student(id=student))
            self._db.flush()

    def _new_entry(self, record: Record, known: Known) -> Any:
        """A row for this notebook alone; nbgrader would make one for each that was not handed in, too."""
        submissions = (
            select(SubmittedAssignment)
            .where(
                SubmittedAssignment.assignment_id == known.assignment,
                SubmittedAssignment.student_id == record.student,
            )
            .options(joinedload(SubmittedAssignment.assignment))
        )
        submission = self._db.scalars(submissions).one_or_none()
        if submission is None:
            assignment = self._db.get(Assignment, known.assignment)
            submission = SubmittedAssignment(assignment=assignment, student_id=record.student)
        entry = SubmittedNotebook(notebook_id=known.notebook, assignment=submission)
        self._db.add(entry)
        return entry

    def _new(self, row: Any) -> Any:
        self._db.add(row)
        return row

    def _withdraw(self, entry: Any | None) -> Any | None:
        """Take a notebook that is not handed in out; the row if it stays, because of what a person gave."""
        if entry is None:
            return None
        if given_by_person(entry):
            for grade in entry.grades:
                grade.auto_score, grade.needs_manual_grade = None, False  # there is nothing to look at
            for comment in entry.comments:
                comment.auto_comment = None
            entry.late_submission_penalty = None
            return entry
        submission = entry.assignment
        for row in [*entry.grades, *entry.comments, entry]:
            self._db.delete(row)
        self._db.flush()
        others = select(func.count()).where(SubmittedNotebook.assignment_id == submission.id)
        if submission.extension is None and not self._db.scalar(others):
            self._db.delete(submission)
        return None

    def _fill_in(
        self, entry: Any, record: Record, known: Known, points: Mapping[str, float | None], resubmitted: bool
    ) -> None:
        grades = {grade.cell_id: grade for grade in entry.grades}
        for cell, name in known.graded.items():
            grade = grades.get(cell) or self._new(Grade(cell_id=cell, notebook=entry))
            grade.auto_score = points.get(name)
            if grade.manual_score is None:
                grade.needs_manual_grade = grade.auto_score is None
            elif resubmitted:
                grade.needs_manual_grade = True
        comments = {comment.cell_id: comment for comment in entry.comments}
        for cell in known.commented:
            comment = comments.get(cell) or self._new(Comment(cell_id=cell, notebook=entry))
            comment.auto_comment = None if record.cells else storable(record.problem) or None
        moment = _moment(record.handed_in)
        if moment is not None:
            entry.assignment.timestamp = moment
        entry.late_submission_penalty = self._late.penalty(entry, record.student)


def _standing(record: Record, entry: Any | None, known: Known) -> Standing:
    return standing(record, held_by(entry, known), known.max_scores)


def _checked_points(record: Record, known: Known) -> dict[str, float | None]:
    """The points by grade_id. Raises ValueError if they are not those of the notebook's cells."""
    points = {cell.cell: cell.points for cell in record.cells}
    if points and points.keys() != known.max_scores.keys():
        raise ValueError(
            f"the record of {record.notebook} has the cells {sorted(points)}, the gradebook "
            f"{sorted(known.max_scores)}"
        )
    for name, value in points.items():
        if value is not None and not 0 <= value <= known.max_scores[name]:
            raise ValueError(f"{value} points for {name}, which has {known.max_scores[name]:g}")
    return points


def _moment(handed_in: str | None) -> Any | None:
    """When a submission was handed in; one that cannot be read is as good as none."""
    with suppress(ValueError, OverflowError):
        return parse_utc(handed_in) if handed_in else None
    return None
