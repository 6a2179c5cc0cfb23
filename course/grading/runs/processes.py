"""A pool of processes on this machine that ends with the process that made it, however that ends.

Nothing here imports NumPy: a new process has to set its number of threads first.
"""

import logging
import multiprocessing
import os
import signal
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Thread
from types import TracebackType
from typing import Generic, TypeVar

from course.processors import ONE_THREAD, processors

Task = TypeVar("Task")
Result = TypeVar("Result")


class LocalPool(Generic[Task, Result]):
    """See `executors.Pool`. New processes are started afresh and not forked, as this one may have threads."""

    lost: tuple[type[Exception], ...] = (BrokenProcessPool,)

    def __init__(self, workers: int | None, work: Callable[[Task], Result], log: Path | None) -> None:
        self.workers = workers or processors()
        self._work, self._log = work, str(log or os.devnull)
        self._context = multiprocessing.get_context("spawn")

    def __enter__(self) -> "LocalPool[Task, Result]":
        # The processes hold one end of this pipe, and end themselves as soon as nobody holds the other.
        self._far_end, self._lifeline = self._context.Pipe(duplex=False)
        self._pool = self._new()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._pool.shutdown(cancel_futures=True)
        self._lifeline.close()
        self._pool.shutdown(cancel_futures=True)
        self._far_end.close()

    def width(self) -> int:
        """One job to work at and one to go on with, a process."""
        return 2 * self.workers

    def submit(self, job: Task) -> Future[Result]:
        """Start a job."""
        try:
            return self._pool.submit(self._work, job)
        except BrokenProcessPool:
            self._pool.shutdown()
            self._pool = self._new()
            return self._pool.submit(self._work, job)

    def result(self, future: Future[Result]) -> Result:
        """What came of a job."""
        return future.result()

    def _new(self) -> ProcessPoolExecutor:
        arguments = (self._far_end, self._log)
        return ProcessPoolExecutor(self.workers, self._context, initializer=_begin, initargs=arguments)


def _begin(lifeline: Connection, log: str) -> None:
    """Set up a new process of the pool."""
    os.setsid()  # what the keyboard interrupts is the run, which then ends this process
    Thread(target=_end_with, args=(lifeline,), daemon=True).start()
    # The processes are as many as the processors: threads of their own would only be in each other's way.
    os.environ |= ONE_THREAD
    file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.dup2(file, 1)
    os.dup2(file, 2)
    os.close(file)
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.captureWarnings(True)


def _end_with(lifeline: Connection) -> None:
    with suppress(EOFError, OSError):
        lifeline.recv_bytes()
    os.killpg(0, signal.SIGKILL)  # with all that was started from here
