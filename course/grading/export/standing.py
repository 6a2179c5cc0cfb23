"""The rows of an export: the gradebook says what was scored, grading.jsonl why something was not."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook, SubmittedAssignment

from course.grading.gradebook.rows import read_class
from course.grading.lms.people import Person
from course.grading.records import Key, Record, Status
from course.grading.standing import standing


@dataclass(frozen=True)
class Row:
    """One notebook of one student.

    raw_score, score : before and after the late penalty; None until each cell has points. That is not a zero.
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


def read_rows(
    gradebook: Gradebook,
    records: Mapping[Key, Record],
    submitted: Path,
    *,
    assignments: Collection[str] = (),
    students: Collection[str] = (),
) -> list[Row]:
    """Every notebook that has points, for every student the gradebook knows, or for those that are named.

    submitted : the folder that submissions lie in. What nbgrader scored without one was not handed in.
    """
    given = read_class(gradebook.db)
    handed_in = _handed_in(gradebook)
    people = sorted(map(Person.from_student, gradebook.students), key=_order)
    rows = []
    for assignment in gradebook.assignments:
        if assignments and assignment.name not in assignments:
            continue
        notebooks = [(str(each.name), float(each.max_score)) for each in assignment.notebooks]
        for person in people:
            if students and person.id not in students:
                continue
            opened = (person.id, assignment.id) in handed_in
            for name, max_score in sorted(notebooks):
                if not max_score:
                    continue
                key = (person.id, assignment.name, name)
                record = records.get(key)
                here = record is not None or (submitted / Path(*key).with_name(f"{name}.ipynb")).exists()
                # Rows without a score: nbgrader itself gave the notebook up. No zero in that case either.
                status = Status.FAILED if here and opened else Status.MISSING
                record = record or Record(*key, status, None, max_score)
                # Of what was not handed in, nbgrader itself makes rows with zeros.
                stands = given.standing(record) if here else standing(record)
                final = stands.status == Status.GRADED
                rows.append(
                    Row(
                        person,
                        assignment.name,
                        name,
                        max_score,
                        stands.status,
                        stands.problem,
                        raw_score=stands.raw_score if final else None,
                        penalty=stands.penalty if final else None,
                        score=stands.score if final else None,
                        duedate=assignment.duedate,
                        timestamp=handed_in.get((person.id, assignment.id)),
                    )
                )
    return rows


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
