"""What grading needs of the course, read once for a run."""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from traitlets.config import Config

from course.building.outputs import MASTERS, refresh_masters
from course.grading.errors import GradingError
from course.grading.jobs.checks_version import checks_sha256
from course.grading.jobs.job import Job
from course.grading.limits import Limits
from course.grading.masters import Master, load_masters
from course.grading.records import Finding, Record, Status
from course.grading.settings import check_seed, limits_of, load_settings
from course.grading.submissions.intake import Submission


@dataclass(frozen=True)
class Setup:
    """The masters, and by what they are graded.

    checks : hash of all that decides about marks beside submission and master, see `checks_sha256`.
    bubblewrap : False to run student code with our own rights.
    """

    settings: Config
    masters: list[Master]
    seed: int
    checks: str
    limits: Limits
    bubblewrap: bool

    @classmethod
    def read(cls, root: Path, *, bubblewrap: bool = True) -> Self:
        """Read the course at `root`, and build its masters if they are not up to date.

        Raises GradingError if there is nothing to grade by, MasterError if a master cannot be built.
        """
        refresh_masters(root)
        settings = load_settings(root)
        masters = load_masters(root / MASTERS)
        if not masters:
            raise GradingError(f"There is nothing to grade in {root / 'source'}: no master has points.")
        seed = check_seed()
        return cls(settings, masters, seed, checks_sha256(seed), limits_of(settings), bubblewrap)

    def job(self, submission: Submission) -> Job:
        """What grades a submission that has been read."""
        master, data = submission.master, submission.data
        if data is None:
            raise ValueError(f"{submission.student} has no file for {master.name}")
        return Job(
            student=submission.student,
            assignment=master.assignment,
            notebook=master.name,
            submission=data,
            master=master.data,
            checks_sha256=self.checks,
            seed=self.seed,
            limits=self.limits,
            bubblewrap=self.bubblewrap,
            notes=tuple(submission.notes),
            handed_in=submission.timestamp,
        )

    def unread(self, submission: Submission, problem: str = "") -> Record:
        """The record of a submission that nothing has been run of: it is missing, or cannot be graded."""
        master = submission.master
        return Record(
            student=submission.student,
            assignment=master.assignment,
            notebook=master.name,
            status=Status.MISSING if submission.missing else Status.FAILED,
            score=None,
            max_score=master.max_score,
            problem=problem or submission.problem,
            findings=tuple(Finding("note", note) for note in submission.notes),
            submission_sha256=submission.sha256,
            master_sha256=master.sha256,
            checks_sha256=self.checks,
            handed_in=submission.timestamp,
        )
