"""Grading the same class again: what changed, and nothing else."""

import errno
import fcntl
import json
import os
import shutil
import subprocess
import sys

import pytest
from nbgrader.api import Gradebook
from tiny_course import HALF

from course.grading.errors import GradingError, SandboxUnavailableError
from course.grading.records import Status, latest
from course.grading.runs.lock import only_run_in
from course.grading.runs.selection import Selection

pytestmark = pytest.mark.usefixtures("one_process")


def names(report):
    return [(record.student, record.notebook, record.status, record.score) for record in report.records]


def test_a_second_run_grades_what_changed_and_nothing_else(fresh):
    """Bug: each run grades the whole class, or a new and broken submission keeps the old score."""
    fresh.hand_in("stays", "account", fresh.right["account"])
    changes = fresh.hand_in("changes", "account", fresh.right["account"])
    fresh.hand_in("broken", "account", b"{")
    first = fresh.grade()
    assert first.graded_now == 6  # three students, two notebooks
    again = fresh.grade()
    assert again.graded_now == 0
    assert again.records == first.records
    assert len(fresh.log.read_text().splitlines()) == 6
    fresh.log.write_bytes(fresh.log.read_bytes() + b'{"student": "cut o')  # as a killed run leaves it

    page = fresh.root / "feedback" / "changes" / "tiny" / "account.html"
    assert "3 of 3" in page.read_text()
    changes.write_bytes(b"{")
    assert fresh.grade().graded_now == 1
    record = latest(fresh.log)["changes", "tiny", "account"]
    assert (record.status, record.score) == (Status.FAILED, None)
    assert "This is not a zero" in page.read_text()

    fresh.hand_in("changes", "account", HALF)
    assert fresh.grade().graded_now == 1
    assert latest(fresh.log)["changes", "tiny", "account"].score == 1
    changes.unlink()
    assert fresh.grade().graded_now == 1
    assert latest(fresh.log)["changes", "tiny", "account"].status == Status.MISSING
    assert not page.exists()

    shutil.rmtree(fresh.root / "feedback" / "stays")
    assert fresh.grade().graded_now == 1
    assert fresh.grade(force=True).graded_now == 6


def test_a_gradebook_that_was_lost_is_filled_from_the_records(fresh, monkeypatch):
    """Bug: with another gradebook every notebook runs again, or the new gradebook stays empty."""
    fresh.hand_in("right", "account", fresh.right["account"])
    fresh.hand_in("half", "account", HALF)
    first = fresh.grade()
    with monkeypatch.context() as patch:
        patch.setattr("course.grading.runs.run.executor", None)  # nothing may run
        again = fresh.grade(db_url=f"sqlite:///{fresh.root / 'other.db'}")
    assert names(again) == names(first)
    assert again.graded_now == 0
    assert again.gradebook == str(fresh.root / "other.db")
    with Gradebook(f"sqlite:///{fresh.root / 'other.db'}", "autoregressive-generation") as gradebook:
        assert gradebook.find_submission("tiny", "right").score == 3
        assert gradebook.find_submission("tiny", "half").score == 1


def test_only_what_was_asked_for_is_graded(fresh):
    """Bug: `--student` grades everybody, or takes the marks of all others away."""
    for student in ("ada", "ben", "cleo"):
        fresh.hand_in(student, "account", fresh.right["account"])
        fresh.hand_in(student, "picks", fresh.right["picks"])
    one = fresh.grade(only=Selection(students=["ben"], notebooks=["picks"]))
    assert names(one) == [("ben", "picks", Status.GRADED, 1)]
    assert names(fresh.grade(only=Selection(assignments=["tiny"], students=["ada"])))[0][0] == "ada"
    assert fresh.grade().graded_now == 3
    with pytest.raises(GradingError, match=r"There is no student dora; there are ada, ben, cleo\."):
        fresh.grade(only=Selection(students=["dora"]))
    with pytest.raises(GradingError, match=r"There is no notebook pick; there are account, picks\."):
        fresh.grade(only=Selection(notebooks=["pick"]))


def test_an_error_of_our_own_is_tried_again(fresh, monkeypatch):
    """Bug: a full disk or a lost sandbox stays on a student's record until somebody forces a run."""
    fresh.hand_in("unlucky", "account", fresh.right["account"])
    fresh.hand_in("lucky", "picks", fresh.right["picks"])
    with monkeypatch.context() as patch:
        patch.setattr("course.grading.jobs.job.grade", lambda job: 1 / 0)
        first = {record.student: record for record in fresh.grade().records if record.submission_sha256}
    assert first["unlucky"].status == first["lucky"].status == Status.FAILED
    assert "Grading itself went wrong (ZeroDivisionError)" in first["unlucky"].problem
    assert "ZeroDivisionError" in (fresh.root / "grading.log").read_text()
    assert [score for *_, score in names(fresh.grade())] == [None, 1, 3, None]


def test_a_result_that_cannot_be_written_is_one_notebooks_failure(fresh, monkeypatch):
    """Bug: one page that cannot be written ends the run for the students behind it, or loses its mark."""
    from course.grading.runs import results

    def refuse(record, *arguments):
        if record.student == "first" and record.cells:
            raise OSError(28, "No space left on device")
        return b"page"

    for student in ("first", "second"):
        fresh.hand_in(student, "picks", fresh.right["picks"])
    with monkeypatch.context() as patch:
        patch.setattr(results, "feedback_page", refuse)
        statuses = [record.status for record in fresh.grade().records if record.notebook == "picks"]
    assert statuses == [Status.FAILED, Status.GRADED]
    assert [record.score for record in fresh.grade().records if record.notebook == "picks"] == [1, 1]


def test_without_a_sandbox_nothing_is_graded(fresh, monkeypatch):
    """Bug: five hundred notebooks fail one by one because bubblewrap is not installed."""
    monkeypatch.undo()  # the real executor asks first
    monkeypatch.setattr("course.grading.sandbox.bubblewrap.PROGRAM", "no-such-program")
    fresh.hand_in("student", "picks", fresh.right["picks"])
    with pytest.raises(SandboxUnavailableError, match="bubblewrap"):
        fresh.grade()
    assert ("student", "tiny", "picks") not in latest(fresh.log)


def test_a_second_run_at_the_same_time_is_refused_in_a_sentence(fresh):
    """Bug: two runs write into the same gradebook, and each undoes what the other did."""
    fresh.hand_in("student", "picks", fresh.right["picks"])
    refused = rf"Another run is grading .*\(process {os.getpid()} on .*Nothing was done"
    with only_run_in(fresh.root):
        for _ in range(2):  # the first one that is refused leaves the holder's name where it is
            with pytest.raises(GradingError, match=refused):
                fresh.grade()
    assert not fresh.log.exists()
    assert fresh.grade().graded_now == 2


def test_a_run_that_was_killed_holds_nothing(fresh):
    """Bug: after a crash nobody can grade until they find and delete a file."""
    program = (
        "import sys, pathlib, time\n"
        "from course.grading.runs.lock import only_run_in\n"
        "with only_run_in(pathlib.Path(sys.argv[1])):\n"
        "    print('held', flush=True)\n"
        "    time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", program, fresh.root], stdout=subprocess.PIPE) as run:
        assert run.stdout.readline() == b"held\n"
        with pytest.raises(GradingError, match=rf"process {run.pid} on"), only_run_in(fresh.root):
            pass
        run.kill()
    with only_run_in(fresh.root):
        pass


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_is_no_obstacle(fresh, monkeypatch, caplog, number):
    """Bug: a class on a network drive that has no locks can't be graded."""

    def refused(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refused)
    with only_run_in(fresh.root), only_run_in(fresh.root):
        pass
    assert f"cannot be locked: [Errno {number}]" in caplog.text


def test_a_master_whose_cells_changed_is_refused_in_a_sentence(fresh):
    """Bug: nbgrader's traceback, or scores for cells that are not there any more."""
    fresh.hand_in("early", "account", fresh.right["account"])
    fresh.grade()
    master = fresh.root / "source" / "tiny" / "account.md"
    master.write_text(master.read_text().replace("account-finished", "account-flags"))
    with pytest.raises(GradingError, match=r"move gradebook\.db away"):
        fresh.grade()


def test_no_submissions_is_a_sentence_with_a_way_out(fresh):
    """Bug: a newcomer's first `course grade` ends in a traceback or an empty table."""
    fresh.submitted.rmdir()
    with pytest.raises(GradingError, match=r"submitted/<student>/.*course grade sample_class"):
        fresh.grade()


def test_the_students_timestamp_reaches_the_gradebook(fresh):
    """Bug: late penalties have nothing to go by, or go by the time of an earlier submission."""
    fresh.hand_in("punctual", "account", fresh.right["account"])

    def moment():
        with Gradebook(f"sqlite:///{fresh.root / 'gradebook.db'}", "autoregressive-generation") as gradebook:
            return str(gradebook.find_submission("tiny", "punctual").timestamp)

    fresh.hand_in("punctual", "", b"2026-02-03 04:05:06 UTC", file="timestamp.txt")
    fresh.grade()
    assert moment() == "2026-02-03 04:05:06"
    fresh.hand_in("punctual", "", b"2026-02-04 04:05:06 UTC", file="timestamp.txt")
    assert fresh.grade().graded_now == 0
    assert moment() == "2026-02-04 04:05:06"
    assert latest(fresh.log)["punctual", "tiny", "account"].handed_in == "2026-02-04 04:05:06 UTC"
    assert len(fresh.log.read_text().splitlines()) == 3
    fresh.grade()
    assert len(fresh.log.read_text().splitlines()) == 3


def test_records_read_as_they_were_written(fresh):
    """Bug: a status or a score changes its type on the way through the log, so that nothing ever stands."""
    fresh.hand_in("student", "picks", b"")
    report = fresh.grade()
    assert list(latest(fresh.log).values()) == report.records
    line = json.loads(fresh.log.read_text().splitlines()[-1])
    assert (line["status"], line["score"], line["max_score"]) == ("failed", None, 1.0)


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ("c.GradingLimits.cell_second = 3", r"there is no c\.GradingLimits\.cell_second; there are cell_sec"),
        ("c.GradingLimits.memory = '2 GB'", r"c\.GradingLimits\.memory is '2 GB'; it should be a number"),
    ],
)
def test_a_limit_that_is_none_is_refused_in_a_sentence(fresh, setting, sentence):
    """Bug: a typing error in a limit is passed over, and the default holds."""
    with (fresh.root / "nbgrader_config.py").open("a") as settings:
        settings.write(setting + "\n")
    with pytest.raises(GradingError, match=sentence):
        fresh.grade()
