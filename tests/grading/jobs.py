"""What the tests of executors run in place of grading; another process imports it by name."""

import os
import signal
import time
from pathlib import Path

from course.grading.errors import GradingError
from course.grading.job import Job, Outcome, grade
from course.grading.records import Record, Status


def job(student: str, place: Path = Path()) -> Job:
    """A job that holds a student's name and a place to leave marks in."""
    return Job(student, "tiny", "account", str(place).encode(), b"", "", 0)


def echo(job: Job) -> Outcome:
    """Say which process it was."""
    record = Record(job.student, job.assignment, job.notebook, Status.GRADED, float(os.getpid()), 3)
    return Outcome(record, b"")


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
    place = Path(job.submission.decode(), job.student)
    with place.open("a") as file:
        file.write("started\n")
    starts = place.read_text().count("started")
    if job.student == "always" or (job.student == "once" and starts == 1):
        os.kill(os.getpid(), signal.SIGKILL)
    return echo(job)


def waits(job: Job) -> Outcome:
    """Leave the process's number in a file, and wait for a file called `go`."""
    folder = Path(job.submission.decode())
    (folder / f"{job.student}-{os.getpid()}").touch()
    while not (folder / "go").exists():
        time.sleep(0.01)
    return echo(job)


def counted(job: Job) -> Outcome:
    """Grade, and leave a line for it in the file that the environment names."""
    with Path(os.environ["GRADED_JOBS"]).open("a") as file:
        file.write(f"{job.student} {job.notebook} {os.getpid()}\n")
    return grade(job)
