"""Runs jobs at the same time, on this machine or on a cluster, and gives what came of each once."""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Protocol

from course.grading.errors import GradingError
from course.grading.jobs.job import Grade, Job, Outcome, grade
from course.grading.runs.processes import LocalPool

Results = Iterator[tuple[Job, Outcome | Exception]]
Run = Callable[[Iterable[Job]], Results]


class LostError(Exception):
    """The process that a job ran in ended, twice: for want of memory, or by a fault of the machine."""


class Pool(Protocol):
    """Processes that run jobs.

    lost : the errors of a job whose process ended under it, through its fault or another's.
    """

    lost: tuple[type[Exception], ...]

    def width(self) -> int:
        """How many jobs to have under way, so that no process waits for one."""
        ...

    def submit(self, job: Job) -> Future[Outcome]:
        """Start a job; a pool that broke is made anew."""
        ...

    def result(self, future: Future[Outcome]) -> Outcome:
        """What came of a job that is done; raises what it raised."""
        ...


@contextmanager
def executor(
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    log: Path | None = None,
    ready: Callable[[], None] | None = None,
    grade: Grade = grade,
) -> Iterator[Run]:
    """A function that runs jobs in parallel and gives each with its outcome or its error, in any order.

    workers : processes on this machine; default: one for each processor that this process may use.
    scheduler : address of a Dask scheduler, to run the jobs on its workers.
    log : a file for what the processes on this machine write.
    ready : called first, where jobs are going to run; raises GradingError where they cannot.
    grade : what to do with a job.

    Jobs are taken from the iterable as there is room for them, so a large class needs no more memory than a
    small one. Whoever leaves the context early stops what is under way.

    Raises GradingError if the scheduler cannot be used, and while it runs if a job cannot be graded here for
    a reason that holds for all of them.
    """
    if scheduler is not None:
        from course.grading.runs.cluster import cluster

        with cluster(scheduler, grade) as pool:
            if ready:
                pool.everywhere(ready)
            yield lambda jobs: _run(pool, jobs)
    else:
        if ready:
            ready()
        with LocalPool(workers, grade, log) as pool:
            yield lambda jobs: _run(pool, jobs)


def _run(pool: Pool, jobs: Iterable[Job]) -> Results:
    """Keep the pool busy.

    Which of the jobs under way took a process down cannot be told, so each of them runs again by itself.
    One that is lost twice then is given up.
    """
    waiting = iter(jobs)
    suspects: deque[Job] = deque()
    losses: Counter[tuple[str, str, str]] = Counter()
    running: dict[Future[Outcome], Job] = {}
    while True:
        alone = bool(suspects) and not running
        if alone:
            more = [suspects.popleft()]
        elif suspects:
            more = []
        else:
            more = list(islice(waiting, max(0, pool.width() - len(running))))
        running |= {pool.submit(job): job for job in more}
        if not running:
            return
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            job = running.pop(future)
            key = (job.student, job.assignment, job.notebook)
            try:
                outcome: Outcome | Exception = pool.result(future)
            except GradingError:
                raise
            except pool.lost as error:
                losses[key] += alone
                if losses[key] < 2:
                    suspects.append(job)
                    continue
                outcome = LostError(f"the process it was graded in ended twice: {error}")
            except Exception as error:
                outcome = error
            yield job, outcome
