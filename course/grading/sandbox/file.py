"""A plain Python file at work."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from course.grading.limits import Limits
from course.grading.sandbox.sandbox import Sandbox
from course.grading.sandbox.session import Session, lost_in
from course.grading.sandbox.worker import Loaded, Worker, WorkerEndedError

Answer = TypeVar("Answer")
_WHERE = "while the file was imported"


class FileSession(Session):
    """A plain Python file in a sandbox; nothing of it has run yet.

    path : where a worker finds the file.
    names : what will be asked for of it.
    """

    def __init__(
        self, sandbox: Sandbox, limits: Limits, seed: int, path: str, source: bytes, names: Sequence[str]
    ) -> None:
        super().__init__(sandbox, seed, 2 * limits.checks_seconds)
        self._path, self._source, self._names = path, source, names
        self._seconds, self._imported = limits.call_seconds, False

    @property
    def replaced(self) -> list[str]:
        """What the file replaced in modules that others need, like "numpy.exp"."""
        return self._worker.replaced if self._worker else []

    def defined(self) -> list[str]:
        """Those of the names that the file's text defines. Raises as `load` does."""
        return self._first(lambda worker: worker.defined(self._source, self._names, self._seconds))

    def load(self) -> Loaded:
        """Import the file.

        Raises CheckLostError where that does not come to an end, SandboxError where the sandbox broke down.
        """
        loaded = self._first(self._load)
        self._imported = True
        return loaded

    def bring_up(self, worker: Worker) -> None:
        """See `Session.bring_up`."""
        if self._imported:
            self._load(worker)

    def _first(self, ask: Callable[[Worker], Answer]) -> Answer:
        """What a worker answers before it has imported the file."""
        worker = self.worker()
        try:
            return ask(worker)
        except WorkerEndedError as error:
            self.lost()
            raise lost_in(error, _WHERE, self._seconds) from None

    def _load(self, worker: Worker) -> Loaded:
        return worker.load(self._path, self._source, self._names, self._seconds)
