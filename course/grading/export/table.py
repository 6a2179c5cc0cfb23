"""Marks as CSV for people: a row a notebook, or a row a student."""

import csv
import io
from collections.abc import Iterable, Mapping
from typing import Any

from course.grading.export.standing import Row
from course.grading.export.totals import Total
from course.grading.records import Status
from course.text import storable

_WHO = ["assignment", "notebook", "duedate", "timestamp", "student_id", "last_name", "first_name", "email"]
_WHAT = ["status", "raw_score", "late_submission_penalty", "score", "max_score", "problem"]
COLUMNS = _WHO + _WHAT
_PERSON = ["assignment", "student_id", "last_name", "first_name", "email"]
TOTAL_COLUMNS = [*_PERSON, "score", "max_score", *(status.replace(" ", "_") for status in Status)]
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def notebooks_table(rows: Iterable[Row]) -> bytes:
    """A row a notebook, with the columns of nbgrader's own export and its status and problem."""
    return _written(COLUMNS, map(_notebook, rows))


def totals_table(totals: Iterable[Total]) -> bytes:
    """A row a student and assignment."""
    return _written(TOTAL_COLUMNS, map(_student, totals))


def guarded(text: str) -> str:
    """Text that a spreadsheet does not compute: what it would take for a formula gets an apostrophe.

    For files that people open. A platform compares its ids letter by letter, so they are never changed.
    """
    return f"'{text}" if text.startswith(_FORMULA) else text


def _written(columns: list[str], rows: Iterable[Mapping[str, Any]]) -> bytes:
    file = io.StringIO(newline="")
    writer = csv.DictWriter(file, columns)
    writer.writeheader()
    for row in rows:
        writer.writerow(
            {name: guarded(storable(cell)) if isinstance(cell, str) else cell for name, cell in row.items()}
        )
    return file.getvalue().encode()


def _notebook(row: Row) -> dict[str, Any]:
    return {
        "assignment": row.assignment,
        "notebook": row.notebook,
        "duedate": row.duedate,
        "timestamp": row.timestamp,
        "student_id": row.person.id,
        "last_name": row.person.last_name,
        "first_name": row.person.first_name,
        "email": row.person.email,
        "status": str(row.status),
        "raw_score": row.raw_score,
        "late_submission_penalty": row.penalty,
        "score": row.score,
        "max_score": row.max_score,
        "problem": row.problem,
    }


def _student(total: Total) -> dict[str, Any]:
    return {
        "assignment": total.assignment,
        "student_id": total.person.id,
        "last_name": total.person.last_name,
        "first_name": total.person.first_name,
        "email": total.person.email,
        "score": total.score,
        "max_score": total.max_score,
        **{status.replace(" ", "_"): total.counts[status] for status in Status},
    }
