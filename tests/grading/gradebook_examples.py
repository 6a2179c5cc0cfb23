"""An assignment with a cell of each kind that nbgrader knows, and records of it."""

from dataclasses import replace

import nbformat
from nbgrader.api import Gradebook

from course.files import ROOT
from course.grading.masters import read_master
from course.grading.records import CellResult, Record, Status
from course.grading.settings import load_settings

COURSE = "autoregressive-generation"
ASSIGNMENT = "week [1]"
CHECK = (
    "### BEGIN HIDDEN TESTS\nrequire('stop_masks', 'account_lengths', account=account)\n### END HIDDEN TESTS"
)
POINTS = {"count": 2.0, "essay": 3.0, "chores": 1.0}


def settings():
    """The course's own."""
    return load_settings(ROOT)


def cell(kind, grade_id, source, **nbgrader):
    """A cell with nbgrader's metadata complete."""
    about = {"schema_version": 3, "grade": False, "solution": False, "locked": False, "task": False}
    made = getattr(nbformat.v4, f"new_{kind}_cell")(source, id=grade_id)
    made.metadata["nbgrader"] = about | {"grade_id": grade_id} | nbgrader
    return made


def master(name, cells):
    """A master of these cells."""
    notebook = nbformat.v4.new_notebook(
        cells=cells, metadata={"kernelspec": {"name": "python3", "language": "python", "display_name": "P"}}
    )
    return read_master(nbformat.writes(notebook).encode(), ASSIGNMENT, name)


def solution(name="account"):
    """A cell for the student to fill in."""
    source = f"def {name}():\n    ### BEGIN SOLUTION\n    return 1\n    ### END SOLUTION"
    return cell("code", name, source, solution=True)


def graded_cell(grade_id="count", points=2):
    """A cell that is graded automatically."""
    return cell("code", grade_id, CHECK, grade=True, locked=True, points=points)


def mixed():
    """One cell that is graded automatically, and two for a person: an answer and a task."""
    return master(
        "mixed",
        [
            solution(),
            graded_cell(),
            cell("markdown", "essay", "Write here.", grade=True, solution=True, points=3),
            cell("markdown", "chores", "Draw a plot below.", task=True, locked=True, points=1),
        ],
    )


def short():
    """A notebook with one cell that is graded automatically."""
    return master("short", [solution("short"), graded_cell("short-test", 1)])


def result(name, points, max_points):
    """What came of a cell; None is for a person to give."""
    status = "manual" if points is None else "passed" if points else "failed"
    return CellResult(name, name, None, points, max_points, status)


def mixed_record(student="ada", count=2.0, **fields):
    """`mixed` graded: two cells wait for a person."""
    cells = (result("count", count, 2.0), result("essay", None, 3.0), result("chores", None, 1.0))
    record = Record(student, ASSIGNMENT, "mixed", Status.NEEDS_PERSON, count, 6.0, cells=cells)
    return replace(record, **fields)


def short_record(student="ada", points=1.0, **fields):
    """`short` graded."""
    cells = (result("short-test", points, 1.0),)
    record = Record(student, ASSIGNMENT, "short", Status.GRADED, points, 1.0, cells=cells)
    return replace(record, **fields)


def failed(record, problem="It ran out of memory."):
    """The same notebook, but it could not be graded."""
    return replace(record, status=Status.FAILED, score=None, cells=(), problem=problem)


def missing(record):
    """The same notebook, but it was not handed in."""
    return replace(record, status=Status.MISSING, score=None, cells=(), problem="Not handed in.")


def opened(url):
    """nbgrader's own gradebook, as formgrader opens it."""
    return Gradebook(url, COURSE)


def by_hand(url, record, cell, points, extra=None):
    """Points typed into formgrader: what its handler does with them."""
    with opened(url) as gradebook:
        grade = gradebook.find_grade(cell, record.notebook, record.assignment, record.student)
        grade.manual_score, grade.extra_credit = points, extra
        grade.needs_manual_grade = grade.manual_score is None and grade.auto_score is None
        gradebook.db.commit()


def comment(url, record, cell, text):
    """A comment typed into formgrader."""
    with opened(url) as gradebook:
        found = gradebook.find_comment(cell, record.notebook, record.assignment, record.student)
        found.manual_comment = text
        gradebook.db.commit()


def grades(url, record):
    """By cell: automatic score, manual score, whether a person has to look."""
    with opened(url) as gradebook:
        entry = gradebook.find_submission_notebook(record.notebook, record.assignment, record.student)
        return {
            grade.name: (grade.auto_score, grade.manual_score, grade.needs_manual_grade)
            for grade in entry.grades
        }
