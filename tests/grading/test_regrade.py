"""A check that changed: which marks change with it is told before they do."""

from dataclasses import replace
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from rich.console import Console
from tiny_course import HALF

from course.checks import registry
from course.grading.records import Status, append, latest
from course.grading.runs.regrade import regrade_class
from course.grading.runs.selection import Selection
from course.grading.runs.table import show_changes

pytestmark = pytest.mark.usefixtures("one_process")


@pytest.fixture
def new_checks(monkeypatch):
    """From now on `account_finished` passes whatever it gets, and the checks have another hash."""

    def change():
        monkeypatch.setattr("course.grading.runs.setup.checks_sha256", lambda seed: "1" * 64)
        monkeypatch.setattr("course.grading.jobs.job.checks_sha256", lambda seed: "1" * 64)
        lenient = tuple(
            replace(check, run=lambda candidate, rng: None) if check.name == "account_finished" else check
            for check in registry.CHALLENGES["stop_masks"]
        )
        monkeypatch.setitem(registry.CHALLENGES, "stop_masks", lenient)

    return change


@pytest.fixture
def course(fresh):
    """A class that has been graded: one is right, one half right, one has an answer only."""
    fresh.hand_in("half", "account", HALF)
    fresh.hand_in("right", "account", fresh.right["account"])
    fresh.hand_in("answer", "picks", fresh.right["picks"])
    fresh.grade()
    return fresh


def regrade(course, **options):
    return regrade_class(course.root, course.root, **options)


def scores(course):
    found = {key: record.score for key, record in latest(course.log).items()}
    return found["half", "tiny", "account"], found["right", "tiny", "account"]


def shown(found, *, applied):
    console = Console(width=160, record=True, quiet=True)
    with console.capture() as captured:
        console.quiet = False
        show_changes(found, console, Path("class"), applied=applied)
    return " ".join(captured.get().split())


def files(folder):
    return {
        path: (path.read_bytes(), path.stat().st_mtime_ns)
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink()
    }


def test_a_dry_run_tells_and_touches_nothing(course, new_checks):
    """Bug: whoever only wants to see what a new check does has already changed the marks."""
    new_checks()
    before = files(course.root)
    found = regrade(course, apply=False)
    assert files(course.root) == before
    (change,) = found.changes
    assert (change.student, change.notebook, change.cell) == ("half", "account", "account-finished")
    assert (change.what, change.before, change.after) == ("account_finished", 0, 2)
    assert (found.compared, found.failures, found.outdated) == (3, [], 0)
    said = shown(found, applied=False)
    assert "half │ account │ 0 │ 2 │ account-finished: account_finished" in said
    assert "3 notebooks graded again; 1 mark of 1 student changes: 1 up, 0 down." in said
    assert "Nothing was written." in said


def test_a_changed_check_changes_no_mark_unasked(course, new_checks):
    """Bug: `course grade` grades a class again because somebody edited a check, and marks change silently."""
    new_checks()
    report = course.grade()
    assert (report.graded_now, report.other_checks) == (0, 3)
    assert scores(course) == (1, 3)


def test_applied_the_new_marks_are_everywhere_and_persons_marks_stay(course, new_checks):
    """Bug: a regrade takes back what an instructor gave by hand, or leaves one of the places behind."""
    url = f"sqlite:///{course.root / 'gradebook.db'}"
    with Gradebook(url, "autoregressive-generation") as gradebook:
        grade = gradebook.find_grade("account-finished", "account", "tiny", "right")
        grade.manual_score, grade.extra_credit = 1.5, 0.25
        comment = gradebook.find_comment("account", "account", "tiny", "half")
        comment.manual_comment = "Look at your flags."
        gradebook.db.commit()
    new_checks()
    found = regrade(course, apply=True)
    assert [(change.student, change.before, change.after) for change in found.changes] == [("half", 0, 2)]
    assert scores(course) == (3, 3)
    assert {record.checks_sha256 for record in latest(course.log).values() if record.cells} == {"1" * 64}
    with Gradebook(url, "autoregressive-generation") as gradebook:
        assert gradebook.find_submission("tiny", "half").score == 3
        assert gradebook.find_submission("tiny", "right").score == 1 + 1.5 + 0.25
        comment = gradebook.find_comment("account", "account", "tiny", "half").manual_comment
        assert comment == "Look at your flags."
    page = (course.root / "feedback" / "half" / "tiny" / "account.html").read_text()
    assert "3 of 3" in page
    assert "Look at your flags." in page
    assert regrade(course, apply=True).compared == 0
    assert course.grade().other_checks == 0


def test_only_what_was_asked_for_is_graded_again(course, new_checks):
    """Bug: `--student` regrades the class, or `--all` leaves out what has these checks already."""
    assert regrade(course, apply=False).compared == 0
    assert regrade(course, apply=False, everything=True).compared == 3
    new_checks()
    only = Selection(students=["right"])
    assert regrade(course, apply=True, only=only).compared == 1
    assert regrade(course, apply=False).compared == 2


def test_what_was_handed_in_anew_is_left_to_course_grade(course, new_checks):
    """Bug: a regrade compares the marks of two different files, and calls it the check's doing."""
    new_checks()
    course.hand_in("half", "account", course.right["account"])
    found = regrade(course, apply=True)
    assert (found.compared, found.outdated, found.changes) == (2, 1, [])
    assert "`course grade` is for them" in shown(found, applied=True)
    assert scores(course)[0] == 1


def test_a_notebook_that_cannot_be_graded_again_keeps_its_marks(course, new_checks, monkeypatch):
    """Bug: a sandbox that breaks during a regrade withdraws a mark that was right."""
    new_checks()
    monkeypatch.setattr("course.grading.jobs.job.grade", lambda job: 1 / 0)
    before = course.log.read_bytes()
    found = regrade(course, apply=True)
    assert (found.compared, len(found.failures)) == (0, 3)
    assert "Its marks stay as they are." in found.failures[0]
    assert course.log.read_bytes() == before


def test_a_notebook_that_failed_with_the_old_checks_is_not_forgotten(course, new_checks):
    """Bug: what has no cells in its record is compared cell by cell, and its change is not told."""
    record = latest(course.log)["right", "tiny", "account"]
    emptied = replace(record, cells=record.cells[:1], score=1.0, checks_sha256="0" * 64)
    append(course.log, [emptied])
    found = regrade(course, apply=True)
    assert [(change.cell, change.before, change.after) for change in found.changes] == [
        ("account-finished", None, 2)
    ]
    assert latest(course.log)["right", "tiny", "account"].status == Status.GRADED
