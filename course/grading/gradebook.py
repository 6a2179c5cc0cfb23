"""The few things grading asks of nbgrader's gradebook, beside what nbgrader does there itself."""

from contextlib import suppress
from typing import Any

from nbgrader.api import Comment, Grade, Gradebook, MissingEntry, SubmittedNotebook
from nbgrader.utils import parse_utc


def open_submission(
    gradebook: Gradebook, student: str, assignment: str, notebook: str, timestamp: str | None
) -> None:
    """Make sure that there is a row for every score of this notebook.

    nbgrader makes them once a submission; a notebook that joined the assignment later would have none.
    """
    handed_in: dict[str, Any] = {}
    with suppress(ValueError, OverflowError):  # a timestamp that cannot be read is as good as none
        handed_in = {"timestamp": parse_utc(timestamp)} if timestamp else {}
    gradebook.update_or_create_student(student)
    submission = gradebook.update_or_create_submission(assignment, student, **handed_in)
    try:
        gradebook.find_submission_notebook(notebook, assignment, student)
    except MissingEntry:
        master = gradebook.find_notebook(notebook, assignment)
        rows = SubmittedNotebook(notebook=master, assignment=submission)
        for cell in [*master.grade_cells, *master.task_cells]:
            Grade(cell_id=cell.id, notebook=rows)
        for cell in [*master.solution_cells, *master.task_cells]:
            Comment(cell_id=cell.id, notebook=rows)
        gradebook.db.add(rows)
        gradebook.db.commit()


def clear_scores(gradebook: Gradebook, student: str, assignment: str, notebook: str) -> None:
    """Leave a notebook without an automatic score, as one that waits for a person.

    The student is added, so that an export lists them; rows that are not there yet stay away, because
    nbgrader shows a submission without scores as a zero. What a person gave by hand is kept.
    """
    gradebook.update_or_create_student(student)
    with suppress(MissingEntry):
        for grade in gradebook.find_submission_notebook(notebook, assignment, student).grades:
            grade.auto_score = None
            grade.needs_manual_grade = True
        gradebook.db.commit()


def submitted_notebook(gradebook: Gradebook, student: str, assignment: str, notebook: str) -> Any | None:
    """The gradebook's entry for a notebook if each of its cells has a score, else None."""
    with suppress(MissingEntry):
        entry = gradebook.find_submission_notebook(notebook, assignment, student)
        if all(grade.auto_score is not None or grade.manual_score is not None for grade in entry.grades):
            return entry
    return None
