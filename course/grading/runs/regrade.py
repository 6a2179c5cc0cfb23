"""Grades again what was graded with other checks, and tells which marks change before they do."""

import logging
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from course.grading.errors import GradingError
from course.grading.gradebook.writer import GradebookWriter
from course.grading.jobs.job import Job
from course.grading.records import Key, Record, latest
from course.grading.runs.executors import Run, executor
from course.grading.runs.folder import ClassFolder
from course.grading.runs.journal import logging_to
from course.grading.runs.lock import only_run_in
from course.grading.runs.probe import probe
from course.grading.runs.results import Results
from course.grading.runs.run import Progress
from course.grading.runs.selection import Selection, key_of
from course.grading.runs.setup import Setup
from course.grading.settings import database_url
from course.grading.submissions.intake import Submission
from course.keeping import Keeper

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Change:
    """Points of a cell that are others now.

    cell : its grade_id; empty where the notebook can no longer be graded, or now can.
    what : the name of its check, or what stands in its way.
    before, after : None where there are none.
    """

    student: str
    assignment: str
    notebook: str
    cell: str
    what: str
    before: float | None
    after: float | None


@dataclass
class Regraded:
    """What grading again gave.

    compared : how many notebooks were graded again.
    changes : by student, notebook and cell.
    failures : what could not be graded again, through no fault of the submission; its marks stay.
    outdated : how many were handed in anew or have another master, which is for `course grade`.
    """

    compared: int = 0
    changes: list[Change] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    outdated: int = 0


def regrade_class(
    root: Path,
    folder: Path,
    *,
    apply: bool,
    everything: bool = False,
    only: Selection | None = None,
    db_url: str | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    bubblewrap: bool = True,
    progress: Progress = lambda done, total, what: None,
) -> Regraded:
    """Grade again what was graded with other checks than there are now.

    apply : whether the new marks take the place of the old ones; if not, nothing in the folder is touched.
    everything : also what was graded with these checks.

    The rest is as in `course.grading.runs.run.grade_class`, with the same errors.
    """
    place, only = ClassFolder(folder), only or Selection()
    only.check(place)
    with ExitStack() as stack:
        if apply:
            stack.enter_context(only_run_in(folder))
        stack.enter_context(logging_to(place.log if apply else None))
        setup = Setup.read(root, bubblewrap=bubblewrap)
        again = _Again(place, setup, only, everything)
        if again.todo:
            results = None
            if apply:
                url = database_url(setup.settings, folder, db_url)
                writer = stack.enter_context(GradebookWriter(setup.settings, url))
                writer.register(setup.masters)
                keeper = stack.enter_context(Keeper(folder))
                results = Results(place, writer, setup.masters, keeper)
            ready = partial(probe, setup.checks, setup.seed, setup.limits, setup.bubblewrap)
            log = place.log if apply else None
            with executor(workers=workers, scheduler=scheduler, log=log, ready=ready) as execute:
                again.grade(execute, results, progress)
        again.found.changes.sort(key=lambda change: (change.student, change.assignment, change.notebook))
        return again.found


class _Again:
    """Grades a class's notebooks once more, beside what there is of them."""

    def __init__(self, folder: ClassFolder, setup: Setup, only: Selection, everything: bool) -> None:
        self._folder, self._setup, self._only = folder, setup, only
        self._masters = only.masters(setup.masters)
        self._previous = latest(folder.records)
        self.found = Regraded()
        self.todo: set[Key] = set()
        for submission in only.submissions(folder, self._masters):
            old = self._previous.get(key_of(submission))
            if old is None or not old.cells:
                continue
            if not _same(old, submission):
                self.found.outdated += 1
            elif everything or old.checks_sha256 != setup.checks:
                self.todo.add(old.key)

    def grade(self, execute: Run, results: Results | None, progress: Progress) -> None:
        """Grade them; keep what comes of it where there are results to write to."""
        total = len(self.todo)
        progress(0, total, "")
        for done, (job, outcome) in enumerate(execute(self._jobs()), start=1):
            old = self._previous[job.student, job.assignment, job.notebook]
            try:
                if isinstance(outcome, Exception):
                    raise outcome
                if results:
                    results.keep(outcome.record, outcome.autograded)
            except GradingError:
                raise
            except Exception as error:
                _log.exception("%s of %s could not be graded again", job.notebook, job.student)
                self.found.failures.append(
                    f"{job.student}, {job.notebook}: grading itself went wrong ({type(error).__name__}: "
                    f"{error}). Its marks stay as they are."
                )
            else:
                self.found.compared += 1
                self.found.changes += changes(old, outcome.record)
            progress(done, total, f"{job.student}, {job.notebook}")

    def _jobs(self) -> Iterator[Job]:
        for submission in self._only.submissions(self._folder, self._masters):
            key = key_of(submission)
            if key in self.todo and _same(self._previous[key], submission):
                yield self._setup.job(submission)


def changes(old: Record, new: Record) -> list[Change]:
    """What is different in the points of two records of the same notebook."""
    if bool(old.cells) != bool(new.cells):
        what = new.problem or old.problem
        return [Change(*new.key, cell="", what=what, before=old.score, after=new.score)]
    before = {cell.cell: cell.points for cell in old.cells}
    return [
        Change(*new.key, cell.cell, cell.name, before.get(cell.cell), cell.points)
        for cell in new.cells
        if before.get(cell.cell) != cell.points
    ]


def _same(old: Record, submission: Submission) -> bool:
    now = (submission.sha256, submission.master.sha256)
    return submission.data is not None and (old.submission_sha256, old.master_sha256) == now
