"""The processes that a student's code may have left behind, also those that left its process group."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
from pathlib import Path

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36  # linux/prctl.h


def adopt() -> None:
    """Become the parent of every descendant whose own parent ends, where the system can do so."""
    if _children_file(os.getpid()).exists():  # or we could not find them
        _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def die_with(parent: int) -> None:
    """End this process when its parent ends, however that comes about."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it has ended already
        os._exit(0)


def children(process: int) -> list[int]:
    """The children of a process; none where the system does not tell."""
    try:
        return [int(number) for number in _children_file(process).read_text().split()]
    except OSError:
        return []


def are_more_than(most: int, process: int) -> bool:
    """Whether a process has more than `most` children that have not ended."""
    found = children(process)
    return len(found) > most and sum(map(_is_at_work, found)) > most


def end(leader: int) -> int:
    """Kill and reap a child, its process group, and every descendant that was adopted.

    Returns the child's wait status: its own, where it had ended before.
    """
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):  # before it had a group of its own
        os.kill(leader, signal.SIGKILL)
    status = os.waitpid(leader, 0)[1]
    while left := children(os.getpid()):
        for process in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(-1, 0)
    return status


def _is_at_work(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def _children_file(process: int) -> Path:
    return Path(f"/proc/{process}/task/{process}/children")


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
