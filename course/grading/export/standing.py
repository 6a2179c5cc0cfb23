"""How each notebook stands: the gradebook says what was scored, grading.jsonl why something was not."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from nbgrader.api import Grade, Gradebook, Notebook, SubmittedAssignment, SubmittedNotebook
from sqlalchemy import and_, case, func

from course.grading.lms.people import Person
from course.grading.records import Key, Record, Status
from course.text import lines, readable


@dataclass(frozen=True)
class Standing:
    """One notebook of one student.

    raw_score, score : before and after the late penalty; None where there is no score, which is not a zero.
    problem : why there is none, or what went wrong in one that has a score; parts are set off by "; ".
    """

    person: Person
    assignment: str
    notebook: str
    max_score: float
    status: Status
    problem: str = ""
    raw_score: float | None = None
    penalty: float | None = None
    score: float | None = None
    duedate: datetime | None = None
    timestamp: datetime | None = None


@dataclass(frozen=True)
class _Scored:
    raw_score: float
    penalty: float


def read_standings(
    gradebook: Gradebook,
    records: Mapping[Key, Record],
    submitted: Path,
    *,
    assignments: Collection[str] = (),
    students: Collection[str] = (),
) -> list[Standing]:
    """Every notebook that has points, for every student the gradebook knows, or for those that are named.

    submitted : the folder that submissions lie in. What nbgrader scored without one was not handed in.
    """
    scored = _scored(gradebook)
    handed_in = _handed_in(gradebook)
    people = sorted(map(Person.from_student, gradebook.students), key=_order)
    standings = []
    for assignment in gradebook.assignments:
        if assignments and assignment.name not in assignments:
            continue
        notebooks = [(str(each.name), str(each.id), float(each.max_score)) for each in assignment.notebooks]
        for person in people:
            if students and person.id not in students:
                continue
            for name, notebook_id, max_score in sorted(notebooks):
                if not max_score:
                    continue
                key = (person.id, assignment.name, name)
                record, entry = records.get(key), scored.get((person.id, notebook_id))
                timestamp = handed_in.get((person.id, assignment.id))
                here = record is not None or (submitted / Path(*key).with_name(f"{name}.ipynb")).exists()
                if not here:
                    entry = None  # nbgrader itself scores it as a zero
                standings.append(
                    Standing(
                        person,
                        assignment.name,
                        name,
                        max_score,
                        *_status(record, entry, opened=here and (person.id, assignment.id) in handed_in),
                        raw_score=entry.raw_score if entry else None,
                        penalty=entry.penalty if entry else None,
                        score=max(0.0, entry.raw_score - entry.penalty) if entry else None,
                        duedate=assignment.duedate,
                        timestamp=timestamp,
                    )
                )
    return standings


def _status(record: Record | None, entry: _Scored | None, opened: bool) -> tuple[Status, str]:
    if entry is not None:
        return Status.GRADED, _lost_points(record) if record and record.score is not None else ""
    if record is None:
        # Rows without a score: nbgrader itself gave the notebook up. No zero in that case either.
        return (Status.FAILED, "It has no score yet.") if opened else (Status.MISSING, "")
    if record.status != Status.MISSING and record.cells:
        waiting = ", ".join(cell.cell for cell in record.cells if cell.points is None)
        return (
            Status.NEEDS_PERSON,
            f"A person has to grade {waiting or 'cells whose points were taken back'}.",
        )
    status = record.status if record.status == Status.MISSING else Status.FAILED
    return status, _in_a_line(record.problem) or "It has no score yet."


def _lost_points(record: Record) -> str:
    """A part for each check that was not passed and for each thing that went wrong."""
    cells = [cell for cell in record.cells if cell.status in ("failed", "error")]
    parts = [f"{cell.name}: {next(iter(lines(str(cell.message))), cell.status)}" for cell in cells]
    parts += [each.text for each in record.findings if each.kind in ("problem", "suspicious")]
    return "; ".join(_in_a_line(part) for part in [record.problem, *parts] if part)


def _in_a_line(text: str) -> str:
    return "; ".join(lines(readable(text)))


def _scored(gradebook: Gradebook) -> dict[tuple[str, str], _Scored]:
    """The notebooks each of whose cells has a score; one query, where the objects would take thousands."""
    without = and_(Grade.auto_score.is_(None), Grade.manual_score.is_(None))
    query = (
        gradebook.db.query(
            SubmittedAssignment.student_id,
            Notebook.id,
            func.coalesce(SubmittedNotebook.late_submission_penalty, 0.0),
            func.sum(Grade.score),
        )
        .select_from(SubmittedNotebook)
        .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
        .join(Notebook, Notebook.id == SubmittedNotebook.notebook_id)
        .join(Grade, Grade.notebook_id == SubmittedNotebook.id)
        .group_by(
            SubmittedAssignment.student_id,
            Notebook.id,
            SubmittedNotebook.id,
            SubmittedNotebook.late_submission_penalty,
        )
        .having(func.sum(case((without, 1), else_=0)) == 0)
    )
    return {(student, name): _Scored(float(score), float(late)) for student, name, late, score in query}


def _handed_in(gradebook: Gradebook) -> dict[tuple[str, Any], datetime | None]:
    """When each assignment was handed in, for those that were."""
    columns = (
        SubmittedAssignment.student_id,
        SubmittedAssignment.assignment_id,
        SubmittedAssignment.timestamp,
    )
    return {(student, assignment): when for student, assignment, when in gradebook.db.query(*columns)}


def _order(person: Person) -> tuple[str, str, str]:
    return person.last_name, person.first_name, person.id
