"""Grades a class: every notebook of every student, each by itself."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from nbgrader.api import Gradebook

from course.building.outputs import MASTERS, refresh_masters
from course.files import write_atomically
from course.grading.autograde import Grader, load_settings
from course.grading.errors import GradingError, SubmissionError
from course.grading.feedback import failure_page
from course.grading.gradebook import clear_scores, submitted_notebook
from course.grading.intake import Submission, collect, strays
from course.grading.journal import logging_to
from course.grading.masters import load_masters
from course.grading.records import Record, Status, append, latest

_log = logging.getLogger(__name__)
_OURS = "Grading itself went wrong"  # not the submission's fault: tried again in the next run


@dataclass(frozen=True)
class Report:
    """What grading a class gave: a record a notebook, how many were graded just now, and what lies astray."""

    records: list[Record]
    graded_now: int
    strays: list[str]


class ClassGrader:
    """Grades what lies in one class's folder with the masters of the course at `root`."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.folder = folder
        refresh_masters(root)
        self.settings = load_settings(root)
        self.db_url = f"sqlite:///{folder / 'gradebook.db'}"
        self.grader = Grader(self.settings, self.db_url)
        self.masters = load_masters(root / MASTERS)
        if not self.masters:
            raise GradingError(f"There is nothing to grade in {root / 'source'}: no master has points.")

    def run(self, force: bool, progress: Callable[[str], None]) -> Report:
        """Grade what changed since it was last graded, or everything if forced."""
        log = self.folder / "grading.jsonl"
        previous = latest(log)
        self.grader.register(self.masters)
        records: list[Record] = []
        graded_now = 0
        for submission in collect(self.folder / "submitted", self.masters):
            record = self._pending(submission)
            old = previous.get(record.key)
            if old is None or force or not self._stands(old, record):
                progress(f"{submission.student}, {submission.master.name}")
                record = self._grade(submission, record)
                append(log, [record])
                graded_now += 1
            else:
                record = old
            records.append(record)
        return Report(records, graded_now, strays(self.folder / "submitted", self.masters))

    def _pending(self, submission: Submission) -> Record:
        """The record of a submission before it is graded: missing, or failed until it is not."""
        master = submission.master
        return Record(
            student=submission.student,
            assignment=master.assignment,
            notebook=master.name,
            status=Status.MISSING if submission.missing else Status.FAILED,
            score=None,
            max_score=master.max_score,
            problem="\n".join([*submission.notes, submission.problem]) if submission.problem else "",
            submission_sha256=submission.sha256,
            master_sha256=master.sha256,
        )

    def _stands(self, old: Record, now: Record) -> bool:
        """Whether an earlier record holds: same file, same master, and what was made of it still there."""
        if (old.submission_sha256, old.master_sha256) != (now.submission_sha256, now.master_sha256):
            return False
        if now.problem:  # known without running anything
            return (old.status, old.problem) == (now.status, now.problem)
        if old.status == Status.FAILED:
            return self._page(old).exists() and not old.problem.startswith(_OURS)
        with Gradebook(self.db_url, self.settings.CourseDirectory.course_id) as gradebook:
            scored = submitted_notebook(gradebook, *old.key) is not None
        return scored and self._page(old).exists() and self._autograded(old).exists()

    def _grade(self, submission: Submission, record: Record) -> Record:
        """Grade one notebook; whatever goes wrong is its own result and stops no other."""
        problem = record.problem
        if submission.cells is not None:
            try:
                graded = self.grader.grade(submission)
                write_atomically(self._autograded(record), graded.autograded)
                write_atomically(self._page(record), graded.feedback)
                return replace(record, status=Status.GRADED, score=graded.score, problem=graded.problem)
            except SubmissionError as error:
                problem = "\n".join([*submission.notes, str(error)])
            except Exception as error:
                _log.exception("%s could not be graded", record.key)
                problem = f"{_OURS} ({type(error).__name__}); grading.log has the details."
        try:
            self._withdraw(record, problem)
        except Exception:
            _log.exception("an earlier result of %s could not be taken back", record.key)
        return replace(record, problem=problem)

    def _withdraw(self, record: Record, problem: str) -> None:
        """Leave no score and no earlier result behind, and tell the student why."""
        self._autograded(record).unlink(missing_ok=True)
        with Gradebook(self.db_url, self.settings.CourseDirectory.course_id) as gradebook:
            clear_scores(gradebook, record.student, record.assignment, record.notebook)
        if record.status == Status.FAILED:
            page = failure_page(record.notebook, problem, self.settings.Execute.timeout)
            write_atomically(self._page(record), page)
        else:
            self._page(record).unlink(missing_ok=True)

    def _autograded(self, record: Record) -> Path:
        name = f"{record.notebook}.ipynb"
        return self.folder / "autograded" / record.student / record.assignment / name

    def _page(self, record: Record) -> Path:
        name = f"{record.notebook}.html"
        return self.folder / "feedback" / record.student / record.assignment / name


def grade_class(
    root: Path, folder: Path, *, force: bool = False, progress: Callable[[str], None] = lambda _: None
) -> Report:
    """Grade a class: `folder/submitted/` in; gradebook, autograded/, feedback/ and grading.jsonl out.

    Raises GradingError if there is nothing to grade or nothing to grade it with, MasterError if a master
    cannot be built.
    """
    if not (folder / "submitted").is_dir():
        raise GradingError(
            f"There is no {folder / 'submitted'}. Submissions belong in "
            "submitted/<student>/<assignment>/<notebook>.ipynb; `course grade sample_class` shows it at work."
        )
    with logging_to(folder / "grading.log"):
        return ClassGrader(root, folder).run(force, progress)
