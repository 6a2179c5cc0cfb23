"""Grades a class: every notebook of every student, each by itself, and nothing twice."""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

from course.grading.errors import GradingError
from course.grading.gradebook.writer import GradebookWriter
from course.grading.jobs.job import Job, Outcome
from course.grading.records import Key, Record, Status, latest
from course.grading.runs.executors import Run, executor
from course.grading.runs.folder import ClassFolder
from course.grading.runs.journal import logging_to
from course.grading.runs.lock import only_run_in
from course.grading.runs.probe import probe
from course.grading.runs.results import Results
from course.grading.runs.selection import Selection, key_of
from course.grading.runs.setup import Setup
from course.grading.settings import database_url, shown_database
from course.grading.standing import Standing, standing
from course.grading.submissions.intake import Submission, strays
from course.keeping import Keeper

Progress = Callable[[int, int, str], None]

_log = logging.getLogger(__name__)
_OURS = "Grading itself went wrong"  # not the submission's fault: tried again in the next run


@dataclass(frozen=True)
class Report:
    """What grading a class gave.

    standings : how each notebook stands with what persons gave.
    graded_now : how many of them this run graded.
    strays : what lies where nothing is looked for.
    gradebook : where the scores are, without a password.
    other_checks : how many stand that were graded with other checks than there are now.
    """

    standings: list[Standing]
    graded_now: int
    strays: list[str]
    gradebook: str = ""
    other_checks: int = 0

    @cached_property
    def records(self) -> list[Record]:
        """The records with the status and the score that count now."""
        return [stands.as_record() for stands in self.standings]


def grade_class(
    root: Path,
    folder: Path,
    *,
    force: bool = False,
    only: Selection | None = None,
    db_url: str | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    bubblewrap: bool = True,
    progress: Progress = lambda done, total, what: None,
) -> Report:
    """Grade a class: `folder/submitted/` in; gradebook, autograded/, feedback/ and grading.jsonl out.

    root : the course.
    force : grade again what has not changed.
    only : which students and notebooks; default: all.
    db_url : of the gradebook; default: what `nbgrader_config.py` says, else gradebook.db in the folder.
    workers, scheduler : where the jobs run, see `executors.executor`.
    bubblewrap : False to run student code with our own rights.
    progress : called with the number of notebooks that are done, that of all that have to be graded, and a
        word on the one that is done.

    Raises GradingError if there is nothing to grade or nothing to grade it with, or another run is at work;
    MasterError if a master cannot be built. What has been graded before that is kept.
    """
    place, only = ClassFolder(folder), only or Selection()
    only.check(place)
    with only_run_in(folder), logging_to(place.log):
        setup = Setup.read(root, bubblewrap=bubblewrap)
        url = database_url(setup.settings, folder, db_url)
        with GradebookWriter(setup.settings, url) as writer, Keeper(folder) as keeper:
            run = _ClassRun(place, setup, only, writer, keeper)
            run.look(force=force)
            if run.todo:
                ready = partial(probe, setup.checks, setup.seed, setup.limits, setup.bubblewrap)
                with executor(workers=workers, scheduler=scheduler, log=place.log, ready=ready) as execute:
                    run.grade(execute, progress)
            return run.report(shown_database(url))


class _ClassRun:
    """One run over a class."""

    def __init__(
        self, folder: ClassFolder, setup: Setup, only: Selection, writer: GradebookWriter, keeper: Keeper
    ) -> None:
        self._folder, self._setup, self._only = folder, setup, only
        self._masters = only.masters(setup.masters)
        self._by_name = {(master.assignment, master.name): master for master in setup.masters}
        self._previous = latest(folder.records)
        # All of them, whatever is graded now: nbgrader takes what it is not told of for gone.
        writer.register(setup.masters)
        self._results = Results(folder, writer, setup.masters, keeper)
        self._standings: dict[Key, Standing | None] = {}  # in the order of the table
        self._other_checks = 0
        self._graded_now = 0
        self.todo: set[Key] = set()

    def look(self, *, force: bool) -> None:
        """Find out what has to be graded; write down what can be said without."""
        for submission in self._only.submissions(self._folder, self._masters):
            key = key_of(submission)
            old = self._previous.get(key)
            if old is not None and not force and self._stands(old, submission):
                self._standings[key] = self._results.confirm(old, submission.timestamp)
                self._other_checks += bool(old.cells) and old.checks_sha256 != self._setup.checks
            elif submission.data is None:
                self._standings[key] = self._results.keep(self._setup.unread(submission))
                self._graded_now += 1
            else:
                self._standings[key] = None
                self.todo.add(key)

    def grade(self, execute: Run, progress: Progress) -> None:
        """Grade what has to be, and keep each result as it comes in."""
        total = len(self.todo)
        progress(0, total, "")
        for done, (job, outcome) in enumerate(execute(self._jobs()), start=1):
            stands = self._keep(job, outcome)
            self._standings[stands.record.key] = stands
            self._graded_now += 1
            progress(done, total, f"{job.student}, {job.notebook}: {stands.status}")

    def report(self, gradebook: str) -> Report:
        """What there is now."""
        standings = [stands for stands in self._standings.values() if stands]
        astray = strays(self._folder.submitted, self._setup.masters)
        return Report(standings, self._graded_now, astray, gradebook, self._other_checks)

    def _jobs(self) -> Iterator[Job]:
        """A job for each; the files are read one by one as there is room, so that memory stays flat."""
        for submission in self._only.submissions(self._folder, self._masters):
            key = key_of(submission)
            if key in self.todo:
                if submission.data is not None:
                    yield self._setup.job(submission)
                else:  # it was taken away meanwhile
                    self._standings[key] = self._results.keep(self._setup.unread(submission))

    def _stands(self, old: Record, submission: Submission) -> bool:
        """Whether an earlier result holds: same file, same master, and what was made of it still there."""
        if (old.submission_sha256, old.master_sha256) != (submission.sha256, submission.master.sha256):
            return False
        if submission.data is None:
            now = self._setup.unread(submission)
            if (old.status, old.problem) != (now.status, now.problem):
                return False
        there = self._folder.autograded(old).exists() and self._folder.page(old).exists()
        return (there or old.status == Status.MISSING) and not old.problem.startswith(_OURS)

    def _keep(self, job: Job, outcome: Outcome | Exception) -> Standing:
        """Keep a result; whatever goes wrong is this notebook's failure, and stops no other."""
        try:
            if isinstance(outcome, Exception):
                raise outcome
            old = self._previous.get(outcome.record.key)
            resubmitted = old is not None and old.submission_sha256 != outcome.record.submission_sha256
            return self._results.keep(outcome.record, outcome.autograded, resubmitted=resubmitted)
        except GradingError:
            raise
        except Exception as error:
            _log.exception("%s of %s could not be graded", job.notebook, job.student)
            failed = self._failed(job, error)
        try:
            return self._results.keep(failed)
        except OSError:  # without its record it is tried again in the next run
            _log.exception("that could not be written down")
            return standing(failed)

    def _failed(self, job: Job, error: Exception) -> Record:
        master = self._by_name[job.assignment, job.notebook]
        submission = Submission(
            job.student, master, job.submission, notes=list(job.notes), timestamp=job.handed_in
        )
        problem = f"{_OURS} ({type(error).__name__}); grading.log has the details. The next run tries again."
        return self._setup.unread(submission, problem)
