"""The course itself: its sample class, the command line, and nbgrader's own commands."""

import csv
import os
import shutil
import subprocess
import sys

import pytest

from course.cli import main
from course.files import ROOT
from course.grading.records import Status, latest

POINTS = {
    "while-loop": 11,
    "recursive": 11,
    "inverse-cdf": 11,
    "half-right": 6,
    "counts-the-prompt": 9,
    "empty": 0,
    "broken-file": None,
}
ASSIGNMENT, NOTEBOOK = "autoregressive-generation", "05-append-then-predict"


@pytest.fixture(scope="module")
def sample_class(tmp_path_factory):
    """The sample class, in a folder of its own."""
    folder = tmp_path_factory.mktemp("class")
    shutil.copytree(ROOT / "sample_class" / "submitted", folder / "submitted")
    return folder


def test_the_sample_class_gets_the_points_it_should(sample_class, capsys):
    """Bug: a right style loses points, a wrong one gains some, or a newcomer's first run is noisy."""
    assert main(["grade", str(sample_class), "--workers", "2"]) == 0
    shown = capsys.readouterr()
    logged = latest(sample_class / "grading.jsonl").values()
    records = {record.student: record for record in logged if record.notebook == NOTEBOOK}
    assert {student: record.score for student, record in records.items()} == POINTS
    assert "6 graded, 1 failed, " in shown.out
    assert {record.status for record in logged if record.notebook != NOTEBOOK} == {Status.MISSING}
    assert {record.score for record in logged if record.notebook != NOTEBOOK} == {None}
    assert "INFO" not in shown.out
    assert "7 of 7 (" in shown.out
    assert shown.err == ""
    for student in ("while-loop", "recursive", "inverse-cdf"):
        assert (records[student].problem, records[student].findings) == ("", ())


def test_a_regrade_of_it_changes_nothing(sample_class, capsys):
    """Bug: the same checks give the same submission other marks the second time."""
    arguments = ["regrade", str(sample_class), "--dry-run", "--all", "--student", "half-right"]
    assert main([*arguments, "--workers", "1"]) == 0
    assert "1 notebook graded again; no mark changes." in capsys.readouterr().out


def nbgrader(folder, *arguments: str) -> str:
    """Run nbgrader as an instructor does, but with the `course` that lies in the folder."""
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0 or arguments[0] == "autograde", done.stderr
    return done.stdout + done.stderr


def test_nbgraders_own_commands_work_from_a_clean_clone(tmp_path):
    """Bug: an nbgrader command needs a step nobody mentions, or makes another release than the build."""
    folder = tmp_path / "a course (copy)"
    for name in ("course", "decoder_lib", "source", "release"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "nbgrader_config.py", folder)
    for student in ("recursive", "broken-file"):
        shutil.copytree(ROOT / "sample_class" / "submitted" / student, folder / "submitted" / student)

    nbgrader(folder, "generate_assignment", ASSIGNMENT)
    for path in sorted((ROOT / "release").rglob("*.ipynb")):
        assert (folder / path.relative_to(ROOT)).read_bytes() == path.read_bytes()
    master = f"build/source/{ASSIGNMENT}/{NOTEBOOK}.ipynb"
    assert "Success! Your notebook passes all the tests." in nbgrader(folder, "validate", master)
    assert "broken-file, 05-append-then-predict was not graded" in nbgrader(folder, "autograde", ASSIGNMENT)
    nbgrader(folder, "generate_feedback", ASSIGNMENT)
    assert (folder / "feedback" / "recursive" / ASSIGNMENT / f"{NOTEBOOK}.html").exists()
    nbgrader(folder, "export")
    with (folder / "grades.csv").open(newline="") as file:
        rows = {(row["student_id"], row["notebook"]): row for row in csv.DictReader(file)}
    shown = {key: (row["status"], row["score"]) for key, row in rows.items()}
    assert shown["recursive", NOTEBOOK] == ("graded", "11.0")
    assert shown["broken-file", NOTEBOOK] == ("failed", "")
    assert shown["recursive", "12-stop-masks"] == ("missing", "")


def test_the_command_says_what_is_wrong_and_ends_with_1(tmp_path, capsys):
    """Bug: a mistake in the call ends in a traceback, or a failed command with success."""
    assert main(["grade", str(tmp_path)]) == 1
    assert "Submissions belong in" in capsys.readouterr().err
    assert main(["regrade", str(tmp_path)]) == 1
    assert "Submissions belong in" in capsys.readouterr().err
    for wrong in (["mark"], ["grade", "--workers", "0"], ["grade", "--workers", "2", "--scheduler", "a:1"]):
        with pytest.raises(SystemExit) as error:
            main(wrong)
        assert error.value.code == 2


def test_without_a_sandbox_the_danger_is_said(tmp_path, capsys):
    """Bug: student code runs with the instructor's rights, and nobody said so."""
    main(["grade", str(tmp_path), "--no-sandbox"])
    assert "runs with your rights" in capsys.readouterr().err


def test_the_module_is_the_command_from_anywhere(tmp_path):
    """Bug: the command works in the repository's root only."""
    done = subprocess.run(
        [sys.executable, "-m", "course", "build", "--check"], cwd=tmp_path, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "Everything is as the build makes it.\n"), done.stdout
