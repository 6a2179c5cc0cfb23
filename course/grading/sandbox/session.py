"""A student's code at work: in a worker, in a fresh one where that ended, and judged by checks."""

import hashlib
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Literal

from course.checks.check import Check, CheckResult, run_check
from course.grading.errors import SandboxError
from course.grading.limits import Limits
from course.grading.sandbox.candidate import SandboxedCandidate
from course.grading.sandbox.sandbox import Sandbox
from course.grading.sandbox.worker import Worker, WorkerEndedError
from course.text import readable

MOST_RESTARTS = 30
_LONGEST_REASON = 300
_ENDS_TOO_OFTEN = "Not run: the code ended its own process too often."


class ExhaustedError(Exception):
    """The code ended its process too often, or took too long to come back, for another try."""


class Session(ABC):
    """A student's code at work.

    attempts : what the code tried and the sandbox took note of.
    """

    def __init__(self, sandbox: Sandbox, seed: int, seconds: float) -> None:
        """A session in which nothing has run yet.

        seconds : for bringing fresh workers where the last one was, together.
        """
        self._sandbox, self._left = sandbox, seconds
        # Derived: whoever reads the generators' state must not learn what the checks draw from.
        self._seed = int.from_bytes(hashlib.sha256(f"worker {seed}".encode()).digest()[:4])
        self._worker: Worker | None = None
        self._restarts = 0
        self.attempts: list[str] = []

    @abstractmethod
    def bring_up(self, worker: Worker) -> None:
        """Bring a fresh worker where the last one was. Raises WorkerEndedError where that ends it."""

    def worker(self) -> Worker:
        """A worker in which all has run, and whose generators are as they always are here.

        Raises ExhaustedError if there is none to be had, SandboxError.
        """
        while True:
            worker = self.living()
            try:
                worker.seed(self._seed)
                return worker
            except WorkerEndedError:
                self.lost()

    def living(self) -> Worker:
        """The worker, or a fresh one that is brought where the last one was. Raises as `worker` does."""
        while self._worker is None:
            if self._restarts > MOST_RESTARTS or self._left <= 0:
                raise ExhaustedError
            self._restarts += 1
            start = time.monotonic()
            self._worker = self._sandbox.open()
            try:
                self._worker.seed(self._seed)
                self.bring_up(self._worker)
            except WorkerEndedError:
                self.lost()
            finally:
                self._left -= time.monotonic() - start
        return self._worker

    def lost(self) -> None:
        """The worker has ended; the next one is made when it is needed."""
        worker, self._worker = self._worker, None
        if worker:
            self.attempts += [attempt for attempt in worker.attempts if attempt not in self.attempts]
            worker.close()

    def close(self) -> None:
        """End the worker."""
        self.lost()


class CheckLostError(Exception):
    """A check could not be run to its end. Its text is for the student.

    status : "timeout" where it was stopped, else "error".
    """

    def __init__(self, status: Literal["error", "timeout"], message: str) -> None:
        super().__init__(message)
        self.status: Literal["error", "timeout"] = status


class Turns:
    """Lets checks look at a session one after another, and shares out the time among them.

    count : how many checks there are.
    """

    def __init__(self, session: Session, limits: Limits, count: int) -> None:
        self._session, self._limits = session, limits
        self._left, self._waiting = limits.checks_seconds, count

    def run(self, check: Check, seed: int, names: Mapping[str, str]) -> CheckResult:
        """How a check ends; one that ends the worker, or runs too long, costs itself only.

        Raises SandboxError where the sandbox broke down.
        """
        try:
            with self.next(names) as candidate:
                return run_check(check, candidate, seed)
        except CheckLostError as lost:
            return CheckResult.of(check, lost.status, str(lost))

    @contextmanager
    def next(self, names: Mapping[str, str]) -> Iterator[SandboxedCandidate]:
        """A candidate for the next check.

        Raises CheckLostError where it is lost, or there is none; SandboxError where the sandbox broke down.
        """
        self._waiting -= 1
        # What later checks are sure to get is kept back.
        least = self._limits.least_seconds
        seconds = max(least, self._left - least * self._waiting)
        try:
            worker = self._session.worker()
        except ExhaustedError:
            raise CheckLostError("error", _ENDS_TOO_OFTEN) from None
        start = time.monotonic()
        candidate = SandboxedCandidate(worker, self._limits.call_seconds, names, together=seconds)
        try:
            yield candidate
        except WorkerEndedError as error:
            self._session.lost()
            raise lost_in(error, "in this check", candidate.seconds) from None
        finally:
            self._left -= time.monotonic() - start


def lost_in(error: WorkerEndedError, where: str, seconds: float) -> CheckLostError | SandboxError:
    """What to raise where the worker ended, or was ended after so many seconds; `where` it was.

    A SandboxError where the whole sandbox broke down: that is nobody's zero, and another one may hold.
    """
    if error.kind == "sandbox":
        return SandboxError(str(error))
    if error.kind == "time":
        return CheckLostError(
            "timeout",
            f"Stopped {where} after {seconds_in_words(seconds)} without an end. Is there a loop that never "
            "ends, or a call that waits?",
        )
    reason = readable(str(error), _LONGEST_REASON)
    if error.kind == "garbled":
        return CheckLostError("error", f"The code disturbed the process that runs it {where}: {reason}.")
    return CheckLostError("error", f"The code could not be run to its end {where}: {reason}.")


def seconds_in_words(number: float) -> str:
    """A time: "1 second", "2.5 seconds"."""
    return "1 second" if f"{number:.3g}" == "1" else f"{number:.3g} seconds"
