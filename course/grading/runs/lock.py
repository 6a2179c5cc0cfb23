"""Lets one run at a time write into a class's folder."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from course.grading.errors import GradingError

_log = logging.getLogger(__name__)


@contextmanager
def only_run_in(folder: Path) -> Iterator[None]:
    """Hold a class's folder while grading writes into it; however the process ends, it lets go.

    Raises GradingError if another run holds it.
    """
    path = folder / ".grading.lock"
    # A file in place of the system's lock would stay when the process is killed.
    lock = FileLock(path, timeout=0, fallback_to_soft=False)
    try:
        lock.acquire()
    except Timeout:
        holder = path.read_text(encoding="utf-8").strip() or "unknown"
        raise GradingError(
            f"Another run is grading {folder} (process {holder}). Nothing was done; "
            "wait until it has ended, or end it, and start again."
        ) from None
    except OSError as error:  # a file system of a network that has no locks
        _log.warning("%s cannot be locked: %s", folder, error)
    try:
        path.write_text(f"{os.getpid()} on {os.uname().nodename}\n", encoding="utf-8")
        yield
    finally:
        lock.release()
