"""Grading the same class again: what changed, and nothing else."""

import json
import shutil

import pytest

from course.grading.errors import GradingError
from course.grading.records import Status, latest


def test_a_second_run_grades_what_changed_and_nothing_else(fresh):
    """Bug: each run grades the whole class, or a new and broken submission keeps the old score."""
    fresh.hand_in("stays", "double", fresh.right["double"])
    changes = fresh.hand_in("changes", "double", fresh.right["double"])
    fresh.hand_in("broken", "double", b"{")
    assert fresh.grade().graded_now == 6  # three students, two notebooks
    log = fresh.root / "grading.jsonl"
    again = fresh.grade()
    assert again.graded_now == 0
    assert len(log.read_text().splitlines()) == 6
    log.write_bytes(log.read_bytes() + b'{"student": "cut o')  # as a killed run leaves it

    page = fresh.root / "feedback" / "changes" / "tiny" / "double.html"
    assert "3.0 / 3.0" in page.read_text()
    changes.write_bytes(b"{")
    assert fresh.grade().graded_now == 1
    record = latest(log)["changes", "tiny", "double"]
    assert (record.status, record.score) == (Status.FAILED, None)
    assert "This is not a zero" in page.read_text()
    assert not (fresh.root / "autograded" / "changes" / "tiny" / "double.ipynb").exists()

    fresh.hand_in("changes", "double", "def double(x):\n    return abs(2 * x)")
    assert fresh.grade().graded_now == 1
    assert latest(log)["changes", "tiny", "double"].score == 1

    shutil.rmtree(fresh.root / "feedback" / "stays")
    assert fresh.grade().graded_now == 1
    assert fresh.grade(force=True).graded_now == 6


def test_an_error_of_our_own_is_tried_again(fresh, monkeypatch):
    """Bug: a full disk or a locked gradebook stays on a student's record until somebody forces a run."""
    from course.grading.autograde import Grader

    fresh.hand_in("unlucky", "double", fresh.right["double"])
    with monkeypatch.context() as patch:
        patch.setattr(Grader, "grade", lambda self, submission: 1 / 0)
        first = fresh.grade()
    assert first.records[0].status == Status.FAILED
    assert "Grading itself went wrong (ZeroDivisionError)" in first.records[0].problem
    assert fresh.grade().records[0].score == 3


def test_a_master_whose_cells_changed_is_refused_in_a_sentence(fresh):
    """Bug: nbgrader's traceback, or scores for cells that are not there any more."""
    fresh.hand_in("early", "double", fresh.right["double"])
    fresh.grade()
    master = fresh.root / "source" / "tiny" / "double.md"
    master.write_text(master.read_text().replace("double-often", "double-always"))
    with pytest.raises(GradingError, match=r"move gradebook\.db away and grade again"):
        fresh.grade()


def test_no_submissions_is_a_sentence_with_a_way_out(fresh):
    """Bug: a newcomer's first `course grade` ends in a traceback or an empty table."""
    fresh.submitted.rmdir()
    with pytest.raises(GradingError, match=r"submitted/<student>/.*course grade sample_class"):
        fresh.grade()


def test_the_students_timestamp_reaches_the_gradebook(fresh):
    """Bug: late penalties have nothing to go by."""
    from nbgrader.api import Gradebook

    fresh.hand_in("punctual", "double", fresh.right["double"])
    fresh.hand_in("punctual", "", b"2026-02-03 04:05:06 UTC", file="timestamp.txt")
    fresh.grade()
    with Gradebook(f"sqlite:///{fresh.root / 'gradebook.db'}", "autoregressive-generation") as gradebook:
        assert str(gradebook.find_submission("tiny", "punctual").timestamp) == "2026-02-03 04:05:06"


def test_records_read_as_they_were_written(fresh):
    """Bug: a status or a score changes its type on the way through the log, so that nothing ever stands."""
    fresh.hand_in("student", "triple", b"")
    report = fresh.grade()
    assert list(latest(fresh.root / "grading.jsonl").values()) == report.records
    line = json.loads((fresh.root / "grading.jsonl").read_text().splitlines()[-1])
    assert (line["status"], line["score"], line["max_score"]) == ("failed", None, 1.0)
