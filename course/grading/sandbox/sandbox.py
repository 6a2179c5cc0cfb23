"""The sandbox: a warm process in bubblewrap, and the workers that it forks."""

import atexit
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any
from weakref import WeakSet

from course.files import ROOT
from course.grading.errors import SandboxError
from course.grading.inside.frames import ClosedError, GarbledError, receive, send
from course.grading.limits import Limits
from course.grading.sandbox.bubblewrap import FILES, command, environment, require_bubblewrap
from course.grading.sandbox.worker import Worker

_SECONDS = 120.0  # to import everything in, on a machine that does much else
_MOST = 2**16
_LEAVING = 5.0  # seconds for the warm process to end all that it started, where no sandbox does
_WARM = "course.grading.inside.warm"


class Sandbox:
    """Forks a worker for each notebook or file from a process that has imported everything.

    Where the kernel grants a worker no namespaces inside the sandbox, each gets a sandbox of its own, which
    takes longer. Of no use to two threads at once.

    limits : what one worker may use.
    bubblewrap : False runs everything with our own rights. Where the system does not tell a process its
        children, those of a worker may then survive it.
    folders : with files to be loaded; a worker can read what is in them.

    Raises SandboxUnavailableError where bubblewrap is not installed.
    """

    def __init__(self, limits: Limits, *, bubblewrap: bool = True, folders: Iterable[Path] = ()) -> None:
        if bubblewrap:
            require_bubblewrap()
        self.limits = limits
        self._bubblewrap = bubblewrap
        self._folders = tuple(folders)
        self._nested = bubblewrap
        self._process: subprocess.Popen[bytes] | None = None
        self._worker: Worker | None = None
        self._home: tempfile.TemporaryDirectory[str] | None = None

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
        if self._process and self._bubblewrap and not self._nested:
            self.close()
        ours, theirs = socket.socketpair()
        with theirs:
            answer = self._order({"open": self._limits() | self._new_home()}, theirs)
        if "refused" in answer and self._nested:
            self._nested = False
            self.close()
            return self.open()
        if "opened" not in answer:
            self.close()
            raise SandboxError(f"a worker did not start: {answer.get('refused')}")
        self._worker = Worker(ours, self.limits, self._interrupt, self._end)
        return self._worker

    def inside(self, path: Path) -> str:
        """Where a worker finds a file of one of the folders."""
        if not self._bubblewrap:
            return str(path)
        return str(FILES / str(self._folders.index(path.parent)) / path.name)

    def close(self) -> None:
        """End the sandbox and everything in it."""
        process, self._process, self._worker = self._process, None, None
        if process:
            self._control.close()
            if not self._bubblewrap:  # it ends what it started, and then itself
                with suppress(subprocess.TimeoutExpired):
                    process.wait(_LEAVING)
            process.kill()
            process.wait()
        self._forget_home()

    def _limits(self) -> dict[str, Any]:
        limits = asdict(self.limits)
        seconds = self.limits.cells_seconds + self.limits.checks_seconds + 60  # of replaying, and of us
        return {name: limits[name] for name in ("memory", "disk", "processes", "output")} | {
            "seconds": seconds
        }

    def _new_home(self) -> dict[str, str]:
        """Where no sandbox gives a worker an empty folder, one for the worker to come."""
        if self._bubblewrap:
            return {}
        self._forget_home()
        self._home = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        return {"home": self._home.name}

    def _forget_home(self) -> None:
        if self._home:
            self._home.cleanup()
            self._home = None

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
        how = "nested" if self._nested else "plain" if self._bubblewrap else "open"
        arguments = ["-m", _WARM, str(theirs.fileno()), how]
        if self._bubblewrap:
            program, variables = command(arguments, self._folders), environment()
        else:  # -P: what lies where this is called from is not to be imported
            program, variables = [sys.executable, "-P", *arguments], environment(ROOT)
            variables["HOME"] = tempfile.gettempdir()
        with theirs, tempfile.TemporaryFile() as said:
            self._process = subprocess.Popen(
                program,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=said,
                env=variables,
                start_new_session=not self._bubblewrap,  # what the keyboard interrupts is us
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


class _Own(threading.local):
    """A thread's sandbox: two threads cannot share one, and each takes a while to start."""

    def __init__(self) -> None:
        self.key: object = None
        self.sandbox: Sandbox | None = None


_own = _Own()
_all: WeakSet[Sandbox] = WeakSet()


def sandbox_of_this_thread(limits: Limits, *, bubblewrap: bool, folders: tuple[Path, ...] = ()) -> Sandbox:
    """The thread's sandbox for these settings; the one for other settings is closed.

    Raises SandboxUnavailableError where there is no bubblewrap.
    """
    key = limits, bubblewrap, folders
    if _own.sandbox is None or _own.key != key:
        drop_sandbox()
        _own.sandbox, _own.key = Sandbox(limits, bubblewrap=bubblewrap, folders=folders), key
        _all.add(_own.sandbox)
    return _own.sandbox


def drop_sandbox() -> None:
    """Close the thread's sandbox; the next one asked for is a new one."""
    sandbox, _own.sandbox = _own.sandbox, None
    if sandbox:
        sandbox.close()


@atexit.register
def _close_all() -> None:
    for sandbox in list(_all):
        with suppress(Exception):
            sandbox.close()
