"""The processes that a student's code started, where no namespace ends them with it."""

import contextlib
import ctypes
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h


def adopt() -> None:
    """Become the parent of every descendant whose own parent ends, where the system can do so."""
    if sys.platform == "linux" and _children_file(os.getpid()).exists():  # or we could not find them
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def of(process: int) -> Iterator[int]:
    """The children of a process, their children, and so on; none where the system does not tell."""
    for child in _children(process):
        yield child
        yield from of(child)


def end_adopted() -> None:
    """Kill and reap the children of this process until there is none."""
    while left := _children(os.getpid()):
        for process in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(-1, 0)


def _children(process: int) -> list[int]:
    try:
        return [int(number) for number in _children_file(process).read_text().split()]
    except OSError:
        return []


def _children_file(process: int) -> Path:
    return Path(f"/proc/{process}/task/{process}/children")
