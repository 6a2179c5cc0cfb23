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
from tiny_course import SECRET

from course.files import ROOT
from course.grading.records import Finding, Record, Status, latest
from course.grading.runs.run import Report
from course.grading.runs.table import MOST_ROWS, show
from course.grading.standing import ManualMarks, standing

FAILED = {
    "empty-file": "The file is empty.",
    "cut-off": "The file is not a whole notebook",
    "not-text": "The file is not",
    "a-list": "no notebook",
    "no-cells": "no list of cells",
    "odd-cells": "Cell 1 of the file is not a notebook's cell.",
    "half-character": "half characters",
    "deep": "The file is not a whole notebook",
    "from-the-future": "format is 5",
    "a-folder": "is a folder",
    "a-link": "is a link to another file",
    "linked-folder": "The folder is a link to another place",
    "a-pipe": "not an ordinary file",
    "one-of-two": "The file is empty.",
}
SCORES = {
    "right": 3,
    "half": 1,
    "other-half": 2,
    "wrong": 0,
    "untouched": 0,
    "renamed": 3,
    "pasted-twice": 3,
    "edited-tests": 3,
    "deleted-tests": 3,
    "old-format": 3,
    "warns": 3,
    "loops": 0,
    "dies": 0,
}


def record(graded, student, notebook="account") -> Record:
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


def shown(report: Report, width: int = 160) -> str:
    """What `course grade` prints of a report."""
    console = Console(width=width, record=True, quiet=True)
    with console.capture() as captured:
        console.quiet = False
        show(report, console, Path("class"))
    return captured.get()


@pytest.mark.parametrize("student", FAILED)
def test_a_submission_that_cannot_be_graded_says_why_and_has_no_score(graded, student):
    """Bug: a broken file ends the run, or is entered as a zero."""
    course, _ = graded
    found = record(graded, student)
    assert found.status == Status.FAILED
    assert FAILED[student] in found.problem
    assert found.score is None
    assert not any(score is not None for score in scores_in_gradebook(course.root, student, "account"))
    frame = json.loads((course.root / "autograded" / student / "tiny" / "account.ipynb").read_bytes())
    assert "Not graded" in "".join(frame["cells"][0]["source"])
    page = (course.root / "feedback" / student / "tiny" / "account.html").read_text()
    assert "This is not a zero" in page
    assert "Traceback" not in page


@pytest.mark.parametrize("student", SCORES)
def test_a_submission_that_can_be_graded_gets_its_points(graded, student):
    """Bug: a copied, edited, deleted or renamed cell, an old format or a warning costs points or the run."""
    course, _ = graded
    found = record(graded, student)
    assert (found.status, found.score, found.max_score) == (Status.GRADED, SCORES[student], 3)
    assert sum(scores_in_gradebook(course.root, student, "account")) == SCORES[student]
    assert (course.root / "autograded" / student / "tiny" / "account.ipynb").exists()
    page = (course.root / "feedback" / student / "tiny" / "account.html").read_text()
    assert f"{SCORES[student]} of 3" in page


@pytest.mark.parametrize(
    ("student", "words"),
    [
        ("half", "Your flags tell of the last round only."),
        ("loops", "without an end"),
        ("dies", "it ended its own process"),
        ("renamed", "Handed in under another name, account (1).ipynb."),
        ("pasted-twice", "more than once"),
        ("deleted-tests", "deleted"),
        ("a-list", "no notebook"),
    ],
)
def test_what_went_wrong_is_said_in_the_table(graded, student, words):
    """Bug: the instructor sees points without a reason, or a repair that nobody mentions."""
    _, report = graded
    only = Report([standing(record(graded, student))], 1, [])
    assert words in " ".join(shown(only, width=400).replace("│", " ").split())
    assert "Smallest case" not in shown(report)


def test_what_is_right_has_nothing_to_say(graded):
    """Bug: the instructor looks through lines of words about notebooks that are simply right."""
    found = record(graded, "right")
    assert (found.problem, found.findings) == ("", ())
    assert {str(cell.message) for cell in found.cells} == {""}


def test_a_file_that_cannot_be_opened_is_one_students_failure(fresh, monkeypatch, one_process):
    """Bug: one file without read permission ends the run for the class."""

    really_open = os.open

    def refuse(path, *arguments, **options):
        if str(path).endswith(".ipynb"):
            raise PermissionError(13, "Permission denied", str(path))
        return really_open(path, *arguments, **options)

    fresh.hand_in("closed", "account", fresh.right["account"])
    with monkeypatch.context() as patch:  # permissions do not stop the superuser, whom tests may run as
        patch.setattr("course.grading.submissions.intake.os.open", refuse)
        account, picks = fresh.grade().records
    problem = "The file cannot be opened: Permission denied."
    assert (account.status, account.problem) == (Status.FAILED, problem)
    assert picks.status == Status.MISSING


def test_one_bad_notebook_leaves_the_students_other_one_alone(graded):
    """Bug: nbgrader drops all of a student's notebooks with the one that fails."""
    assert record(graded, "one-of-two", "account").status == Status.FAILED
    assert record(graded, "one-of-two", "picks").score == 1


def test_a_notebook_that_was_not_handed_in_is_missing(graded):
    """Bug: nbgrader scores a notebook that was not handed in as a zero."""
    found = record(graded, "half", "picks")
    assert (found.status, found.score) == (Status.MISSING, None)
    assert not (graded[0].root / "feedback" / "half" / "tiny" / "picks.html").exists()
    assert not scores_in_gradebook(graded[0].root, "half", "picks")


def test_what_lies_astray_is_named(graded):
    """Bug: a notebook in the wrong place is passed over without a word."""
    assert sorted(graded[1].strays) == ["half/tniy", "stray.ipynb"]
    assert "submitted/stray.ipynb" in shown(graded[1])


def test_nothing_is_taken_through_a_link(graded):
    """Bug: a link in a submission brings another file, the gradebook say, into feedback."""
    course, _ = graded
    frame = (course.root / "autograded" / "a-link" / "tiny" / "account.ipynb").read_text()
    assert "finished |= chosen == end_id" not in frame
    for folder in ("autograded", "feedback"):
        assert not any(path.is_symlink() for path in (course.root / folder).rglob("*"))


def test_feedback_hides_the_hidden_tests(graded):
    """Bug: each student's page shows the hidden tests, in a cell or in a traceback."""
    pages = list((graded[0].root / "feedback").rglob("*.html"))
    assert len(pages) == len(FAILED) + len(SCORES) + 4  # `picks` of four students
    assert not [page for page in pages if SECRET in page.read_text()]


def test_the_table_shows_no_zero_for_a_failure(graded):
    """Bug: the table shows a failed or missing notebook with 0 points, or a run that ends in a traceback."""
    lines = shown(graded[1]).splitlines()
    for student in FAILED:
        line = next(line for line in lines if f" {student} " in line and "account" in line)
        assert " – of 3 " in line
        assert "failed" in line
    assert "Traceback" not in "".join(lines)


def test_the_table_says_what_was_taken_off_for_lateness():
    """Bug: the table shows fewer points than the checks gave, and no word about why."""
    late = standing(Record("ada", "tiny", "account", Status.GRADED, 3, 3), ManualMarks(penalty=0.5))
    failed = Record("bob", "tiny", "account", Status.FAILED, None, 3, "The file is empty.")
    table = shown(Report([late, standing(failed, ManualMarks(penalty=1.0))], 0, []))
    assert "2.5 of 3" in table
    assert "late: 0.5 points were taken off" in table
    assert "Points were taken off for lateness in 1 notebook." in table


def test_the_table_of_a_large_class_shows_what_needs_a_look(graded):
    """Bug: three failures of a class of five hundred are somewhere in five hundred rows."""
    plain = standing(record(graded, "right"))
    odd = standing(Record("odd", "tiny", "account", Status.FAILED, None, 3, "The file is empty."))
    sly = standing(
        Record("sly", "tiny", "account", Status.GRADED, 3, 3, findings=(Finding("suspicious", "gdb"),))
    )
    table = shown(Report([odd, *[plain] * MOST_ROWS, sly], 0, []))
    assert " odd " in table
    assert " sly " in table
    assert " right " not in table
    assert "not plainly graded" in table
    assert "62 notebooks: 61 graded, 1 failed." in table
    assert "1 notebook with something suspicious" in table
    assert shown(Report([odd] * 500, 0, [])).count(" odd ") == MOST_ROWS


def test_the_export_has_a_status_and_no_zero_for_a_failure(graded, tmp_path):
    """Bug: `nbgrader export` writes 0.0 for a student whose file is broken."""
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
        row = rows[student, "account"]
        assert (row["status"], row["raw_score"], row["score"]) == ("failed", "", "")
        assert problem in row["problem"]
    for student, score in SCORES.items():
        row = rows[student, "account"]
        assert (row["status"], float(row["score"]), float(row["max_score"])) == ("graded", score, 3)
    row = rows["half", "picks"]
    assert (row["status"], row["score"]) == ("missing", "")


def test_the_log_has_a_line_a_notebook(graded):
    """Bug: a result is on the screen and nowhere else."""
    course, report = graded
    lines = [json.loads(line) for line in course.log.read_text().splitlines()]
    assert len(lines) == len(report.records)
    assert {len(line["master_sha256"]) for line in lines} == {64}
    logged = latest(course.log)
    assert [logged[each.key] for each in report.records] == report.records


def test_nothing_is_written_beside_the_submissions(graded):
    """Bug: grading leaves its own files among what students handed in."""
    found = {path.name for path in graded[0].submitted.rglob("*") if path.is_file()}
    assert found <= {"account.ipynb", "picks.ipynb", "account (1).ipynb", "stray.ipynb"}
