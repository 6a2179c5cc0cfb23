"""What the tests of executors run in place of grading; another process imports it by name.

Grading itself is not imported, which would take each process of each test seconds.
"""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from course.grading.errors import GradingError


@dataclass(frozen=True)
class Job:
    """What an executor sees of a job, and a place to leave marks in."""

    student: str
    place: Path = Path()
    assignment: str = "tiny"
    notebook: str = "account"


@dataclass(frozen=True)
class Outcome:
    """What comes of it."""

    process: int


def echo(job: Job) -> Outcome:
    """Say which process it was."""
    return Outcome(os.getpid())


def raises(job: Job) -> Outcome:
    """Go wrong for one student."""
    if job.student == "unlucky":
        raise ValueError("no luck")
    return echo(job)


def refuses(job: Job) -> Outcome:
    """Say that nothing can be graded here."""
    raise GradingError("this worker has other checks")


def kills(job: Job) -> Outcome:
    """End the process, each time or the first time, as the student's name says."""
    place = job.place / job.student
    with place.open("a") as file:
        file.write("started\n")
    starts = place.read_text().count("started")
    if job.student == "always" or (job.student == "once" and starts == 1):
        os.kill(os.getpid(), signal.SIGKILL)
    return echo(job)


def waits(job: Job) -> Outcome:
    """Leave the process's number in a file, and wait for a file called `go`."""
    (job.place / f"{job.student}-{os.getpid()}").touch()
    while not (job.place / "go").exists():
        time.sleep(0.01)
    return echo(job)


def counted(job):
    """Grade a real job, and leave a line for it in the file that the environment names."""
    from course.grading.jobs.job import grade

    with Path(os.environ["GRADED_JOBS"]).open("a") as file:
        file.write(f"{job.student} {job.notebook} {os.getpid()}\n")
    return grade(job)
