"""`nbgrader export`: grades as CSV, where a failure is not a zero."""

import csv
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.plugins import ExportPlugin

from course.grading.gradebook import submitted_notebook
from course.grading.records import Record, Status, latest

_WHO = ["assignment", "notebook", "duedate", "timestamp", "student_id", "last_name", "first_name", "email"]
_WHAT = ["status", "raw_score", "late_submission_penalty", "score", "max_score", "problem"]
COLUMNS = _WHO + _WHAT
NOT_HANDED_IN = {"status": Status.MISSING, "raw_score": None, "score": None, "problem": ""}


class StatusExport(ExportPlugin):  # type: ignore[misc]
    """nbgrader's CSV with a row a notebook, its status, and an empty score where there is none.

    The gradebook says what was scored; grading.jsonl, beside it, says why something was not.
    """

    def export(self, gradebook: Gradebook) -> None:
        """Write the file that `--to` names, grades.csv if it names none."""
        url = gradebook.engine.url
        in_file = url.get_backend_name() == "sqlite" and url.database
        folder = Path(url.database).parent if in_file else Path(self.parent.coursedir.root)
        self.submitted = folder / self.parent.coursedir.submitted_directory
        records = latest(folder / "grading.jsonl")
        with Path(self.to or "grades.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows(self._rows(gradebook, records))

    def _rows(
        self, gradebook: Gradebook, records: dict[tuple[str, str, str], Record]
    ) -> Iterator[dict[str, Any]]:
        assignments, students = set(map(str, self.assignment)), set(map(str, self.student))
        for assignment in gradebook.assignments:
            for student in gradebook.students:
                if (assignments and assignment.name not in assignments) or (
                    students and student.id not in students
                ):
                    continue
                for notebook in sorted(assignment.notebooks, key=lambda notebook: str(notebook.name)):
                    if notebook.max_score:
                        place = Path(student.id, assignment.name, f"{notebook.name}.ipynb")
                        record = records.get((student.id, assignment.name, notebook.name))
                        row = _row(gradebook, assignment, student, notebook, record)
                        if record is None and not (self.submitted / place).exists():
                            row |= NOT_HANDED_IN  # nbgrader itself scores it as a zero
                        yield row


def _row(
    gradebook: Gradebook, assignment: Any, student: Any, notebook: Any, record: Record | None
) -> dict[str, Any]:
    row = {
        "assignment": assignment.name,
        "notebook": notebook.name,
        "duedate": assignment.duedate,
        "student_id": student.id,
        "last_name": student.last_name,
        "first_name": student.first_name,
        "email": student.email,
        "max_score": notebook.max_score,
    }
    status, problem = Status.MISSING, ""
    with suppress(MissingEntry):
        row["timestamp"] = gradebook.find_submission(assignment.name, student.id).timestamp
        # Rows without a score: nbgrader itself gave it up, or it waits for a person. No zero in either case.
        status, problem = Status.FAILED, "It has no score yet."
    if record and record.status != Status.GRADED:
        status, problem = record.status, record.problem
    entry = submitted_notebook(gradebook, student.id, assignment.name, notebook.name)
    if entry is not None:
        status, problem = Status.GRADED, record.problem if record and record.score is not None else ""
        penalty = entry.late_submission_penalty or 0.0
        row |= {
            "raw_score": entry.score,
            "late_submission_penalty": penalty,
            "score": max(0.0, entry.score - penalty),
        }
    return row | {"status": status, "problem": problem.replace("\n", "; ")}
