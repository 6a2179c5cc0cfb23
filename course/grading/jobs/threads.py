"""Keeps one sandbox for each thread that grades: two cannot share one, and each takes a while to start."""

import atexit
import threading
from contextlib import suppress
from weakref import WeakSet

from course.grading.limits import Limits
from course.grading.sandbox import Sandbox

_Key = tuple[Limits, bool]


class _Own(threading.local):
    def __init__(self) -> None:
        self.key: _Key | None = None
        self.sandbox: Sandbox | None = None


_own = _Own()
_all: WeakSet[Sandbox] = WeakSet()


def sandbox_of_this_thread(limits: Limits, *, bubblewrap: bool) -> Sandbox:
    """The thread's sandbox for these settings; the one for other settings is closed.

    Raises SandboxUnavailableError where there is no bubblewrap.
    """
    if _own.sandbox is None or _own.key != (limits, bubblewrap):
        drop_sandbox()
        _own.sandbox = Sandbox(limits, bubblewrap=bubblewrap)
        _own.key = limits, bubblewrap
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
