"""A class graded: every submission ends with a score or a reason, and none stops another."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from rich.console import Console

from course.cli import ROOT
from course.grading.records import Status, latest
from course.grading.table import show

FAILED = {
    "empty-file": "The file is empty.",
    "cut-off": "The file is not a whole notebook",
    "not-text": "The file is not a whole notebook",
    "a-list": "no notebook",
    "no-cells": "no list of cells",
    "odd-cells": "Cell 1 of the file is not a notebook's cell.",
    "half-character": "half characters",
    "deep": "The file is not a whole notebook",
    "from-the-future": "format is 5",
    "no-solution": "The solution cell double is not in the notebook.",
    "a-folder": "is a folder",
    "a-link": "is a link to another file",
    "linked-folder": "The folder is a link to another place",
    "a-pipe": "not an ordinary file",
    "one-of-two": "The file is empty.",
    "loops": "double-once ran for more than 4 seconds and was stopped.",
    "dies": "The kernel died while it ran double-once",
}
SCORES = {
    "right": 3,
    "half": 1,
    "untouched": 0,
    "renamed": 3,
    "pasted-twice": 3,
    "edited-tests": 3,
    "deleted-tests": 3,
    "old-format": 3,
    "warns": 3,
}


def record(graded, student, notebook="double"):
    _, report = graded
    (found,) = (each for each in report.records if (each.student, each.notebook) == (student, notebook))
    return found


def scores_in_gradebook(root: Path, student: str, notebook: str) -> list[float | None]:
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}", "autoregressive-generation") as gradebook:
        entries = [
            entry
            for submission in gradebook.find_student(student).submissions
            for entry in submission.notebooks
            if entry.name == notebook
        ]
        return [grade.auto_score for entry in entries for grade in entry.grades]


@pytest.mark.parametrize("student", FAILED)
def test_a_submission_that_cannot_be_graded_says_why_and_has_no_score(graded, student):
    """Bug: a broken file, an endless loop or a dead kernel ends the run, or is entered as a zero."""
    course, _ = graded
    found = record(graded, student)
    assert found.status == Status.FAILED
    assert FAILED[student] in found.problem
    assert found.score is None
    assert not any(score is not None for score in scores_in_gradebook(course.root, student, "double"))
    assert not (course.root / "autograded" / student / "tiny" / "double.ipynb").exists()
    page = (course.root / "feedback" / student / "tiny" / "double.html").read_text()
    assert "This is not a zero" in page
    assert "Traceback" not in page


@pytest.mark.parametrize("student", SCORES)
def test_a_submission_that_can_be_graded_gets_its_points(graded, student):
    """Bug: a copied, edited, deleted or renamed cell, an old format or a warning costs points or the run."""
    course, _ = graded
    found = record(graded, student)
    assert (found.status, found.score, found.max_score) == (Status.GRADED, SCORES[student], 3)
    assert sum(scores_in_gradebook(course.root, student, "double")) == SCORES[student]
    assert (course.root / "autograded" / student / "tiny" / "double.ipynb").exists()
    assert (
        f"Score: {SCORES[student]:.1f} / 3.0"
        in (course.root / "feedback" / student / "tiny" / "double.html").read_text()
    )


@pytest.mark.parametrize(
    ("student", "words"),
    [
        ("right", ""),
        ("half", "double-often: double is wrong at -10"),
        ("untouched", "Nothing was written: every solution cell is as it was handed out."),
        ("renamed", "Handed in under another name, double (1).ipynb."),
        ("pasted-twice", "double is there more than once"),
        ("deleted-tests", "double-once had been deleted and was put back."),
    ],
)
def test_what_went_wrong_is_said_in_a_line(graded, student, words):
    """Bug: the instructor sees points without a reason, or a repair that nobody mentions."""
    problem = record(graded, student).problem
    assert words in problem if words else problem == ""
    assert "and here is more" not in problem


def test_a_file_that_cannot_be_opened_is_one_students_failure(fresh, monkeypatch):
    """Bug: one file without read permission ends the run for the class."""

    really_open = os.open

    def refuse(path, *arguments, **options):
        if str(path).endswith(".ipynb"):
            raise PermissionError(13, "Permission denied", str(path))
        return really_open(path, *arguments, **options)

    fresh.hand_in("closed", "double", fresh.right["double"])
    with monkeypatch.context() as patch:  # permissions do not stop the superuser, whom tests may run as
        patch.setattr("course.grading.intake.os.open", refuse)
        double, triple = fresh.grade().records
    assert (double.status, double.problem) == (Status.FAILED, "The file cannot be opened: Permission denied.")
    assert triple.status == Status.MISSING


def test_one_bad_notebook_leaves_the_students_other_one_alone(graded):
    """Bug: nbgrader drops all of a student's notebooks with the one that fails."""
    assert record(graded, "one-of-two", "double").status == Status.FAILED
    assert record(graded, "one-of-two", "triple").score == 1


def test_a_notebook_that_was_not_handed_in_is_missing(graded):
    """Bug: nbgrader scores a notebook that was not handed in as a zero."""
    found = record(graded, "half", "triple")
    assert (found.status, found.score) == (Status.MISSING, None)
    assert not (graded[0].root / "feedback" / "half" / "tiny" / "triple.html").exists()
    assert all(score is None for score in scores_in_gradebook(graded[0].root, "half", "triple"))


def test_what_lies_astray_is_named(graded):
    """Bug: a notebook in the wrong place is passed over without a word."""
    assert sorted(graded[1].strays) == ["half/tniy", "stray.ipynb"]


def test_nothing_is_taken_through_a_link(graded):
    """Bug: a link in a submission brings another file, the gradebook say, into feedback."""
    for folder in ("autograded", "feedback"):
        assert not list((graded[0].root / folder / "a-link").rglob("*.ipynb"))
        assert not any(path.is_symlink() for path in (graded[0].root / folder).rglob("*"))


def test_feedback_hides_the_hidden_tests(graded):
    """Bug: each student's page shows the hidden tests, in a cell or in a traceback."""
    page = (graded[0].root / "feedback" / "half" / "tiny" / "double.html").read_text()
    assert "double is wrong at -10" in page
    assert "Hidden tests ran here" in page
    assert "secret" not in page


def test_the_table_shows_no_zero_for_a_failure(graded):
    """Bug: the table shows a failed or missing notebook with 0 points, or a run that ends in a traceback."""
    console = Console(width=160, record=True, quiet=True)
    with console.capture() as shown:
        console.quiet = False
        show(graded[1], console)
    lines = shown.get().splitlines()
    for student in FAILED:
        line = next(line for line in lines if f" {student} " in line and "double" in line)
        assert " – of 3 " in line
        assert "failed" in line
    assert "Traceback" not in shown.get()
    assert "submitted/stray.ipynb" in shown.get()


def test_the_export_has_a_status_and_no_zero_for_a_failure(graded, tmp_path):
    """Bug: `nbgrader export` writes 0.0 for a student whose kernel died."""
    course, _ = graded
    subprocess.run(
        [sys.executable, "-m", "nbgrader", "export", "--to", str(tmp_path / "grades.csv")],
        cwd=course.root,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        check=True,
        capture_output=True,
    )
    with (tmp_path / "grades.csv").open(newline="") as file:
        rows = {(row["student_id"], row["notebook"]): row for row in csv.DictReader(file)}
    for student, problem in FAILED.items():
        row = rows[student, "double"]
        assert (row["status"], row["raw_score"], row["score"]) == ("failed", "", "")
        assert problem in row["problem"]
    for student, score in SCORES.items():
        row = rows[student, "double"]
        assert (row["status"], float(row["score"]), float(row["max_score"])) == ("graded", score, 3)
    row = rows["half", "triple"]
    assert (row["status"], row["score"]) == ("missing", "")


def test_the_log_has_a_line_a_notebook(graded):
    """Bug: a result is on the screen and nowhere else."""
    course, report = graded
    lines = [json.loads(line) for line in (course.root / "grading.jsonl").read_text().splitlines()]
    assert len(lines) == len(report.records)
    assert {len(line["master_sha256"]) for line in lines} == {64}
    assert list(latest(course.root / "grading.jsonl").values()) == report.records


def test_nothing_is_written_beside_the_submissions(graded):
    """Bug: grading leaves its own files among what students handed in."""
    found = {path.name for path in graded[0].submitted.rglob("*") if path.is_file()}
    assert found <= {"double.ipynb", "triple.ipynb", "double (1).ipynb", "stray.ipynb"}
