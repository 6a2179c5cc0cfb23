"""The sandbox: a warm process in bubblewrap, and the workers that it forks."""

import shutil
import socket
import subprocess
import sys
import tempfile
from dataclasses import asdict
from types import TracebackType
from typing import Any

from course.files import ROOT
from course.grading.errors import SandboxError
from course.grading.inside.frames import ClosedError, GarbledError, receive, send
from course.grading.limits import Limits
from course.grading.sandbox.bubblewrap import command, environment, require_bubblewrap
from course.grading.sandbox.worker import Worker

_SECONDS = 120.0  # to import everything in, on a machine that does much else
_MOST = 2**16
_WARM = "course.grading.inside.warm"


class Sandbox:
    """Forks a worker for each notebook from a process that has imported everything.

    Where the kernel grants a worker no namespaces inside the sandbox, each gets a sandbox of its own, which
    takes longer. Of no use to two threads at once.

    limits : what one worker may use.
    bubblewrap : False runs everything with our own rights. Children of a worker may then survive it.

    Raises SandboxUnavailableError where bubblewrap is not installed.
    """

    def __init__(self, limits: Limits, *, bubblewrap: bool = True) -> None:
        if bubblewrap:
            require_bubblewrap()
        self.limits = limits
        self._bubblewrap = bubblewrap
        self._nested = bubblewrap
        self._process: subprocess.Popen[bytes] | None = None
        self._worker: Worker | None = None
        self._own_folder: str | None = None

    def __enter__(self) -> "Sandbox":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def open(self) -> Worker:
        """A worker in which nothing has run yet; the one before it is closed.

        Raises SandboxError if the sandbox does not start or has broken down; another may be opened then.
        """
        if self._worker:
            self._worker.close()
        if self._process and not self._nested:
            self.close()
        ours, theirs = socket.socketpair()
        with theirs:
            answer = self._order({"open": self._limits()}, theirs)
        if "refused" in answer and self._nested:
            self._nested = False
            self.close()
            return self.open()
        if "opened" not in answer:
            self.close()
            raise SandboxError(f"a worker did not start: {answer.get('refused')}")
        self._worker = Worker(ours, self.limits, self._interrupt, self._end)
        return self._worker

    def close(self) -> None:
        """End the sandbox and everything in it."""
        process, self._process, self._worker = self._process, None, None
        if process:
            self._control.close()
            process.kill()
            process.wait()
        if self._own_folder:
            shutil.rmtree(self._own_folder, ignore_errors=True)

    def _limits(self) -> dict[str, Any]:
        limits = asdict(self.limits)
        seconds = self.limits.cells_seconds + self.limits.checks_seconds + 60  # of replaying, and of us
        return {name: limits[name] for name in ("memory", "disk", "processes", "output")} | {
            "seconds": seconds
        }

    def _interrupt(self) -> None:
        self._order({"interrupt": True})

    def _end(self) -> str:
        return str(self._order({"close": True}).get("ended", ""))

    def _order(self, order: dict[str, Any], file: socket.socket | None = None) -> dict[str, Any]:
        """Give the warm process an order, and wait for its answer; SandboxError where none comes."""
        if self._process is None:
            self._start()
        try:
            socket.send_fds(self._control, [b"o"], [file.fileno()] if file else [])
            send(self._control, order, _SECONDS)
            return receive(self._control, _MOST, _SECONDS)
        except (OSError, ClosedError, GarbledError) as error:
            self.close()
            raise SandboxError("the sandbox ended by itself") from error

    def _start(self) -> None:
        """Start the warm process, and wait until it is ready."""
        self._control, theirs = socket.socketpair()
        arguments = ["-m", _WARM, str(theirs.fileno()), "nested" if self._nested else "plain"]
        if self._bubblewrap:
            program, variables, folder = command(arguments), environment(), None
        else:
            folder = self._own_folder = tempfile.mkdtemp()
            program, variables = [sys.executable, *arguments], environment(ROOT) | {"HOME": folder}
        with theirs, tempfile.TemporaryFile() as said:
            self._process = subprocess.Popen(
                program,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=said,
                env=variables,
                cwd=folder,
                pass_fds=[theirs.fileno()],
            )
            theirs.close()
            try:
                receive(self._control, _MOST, _SECONDS)
            except (TimeoutError, ClosedError, GarbledError) as error:
                self.close()
                said.seek(0)
                why = said.read(2_000).decode(errors="replace").strip()
                raise SandboxError(f"the sandbox did not start: {why or type(error).__name__}") from error
