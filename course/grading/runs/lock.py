"""Lets one run at a time write into a class's folder."""

import fcntl
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from course.grading.errors import GradingError

_log = logging.getLogger(__name__)


@contextmanager
def only_run_in(folder: Path) -> Iterator[None]:
    """Hold a class's folder while grading writes into it; however the process ends, it lets go.

    Raises GradingError if another run holds it.
    """
    with (folder / ".grading.lock").open("a+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            holder = file.read().strip() or "unknown"
            raise GradingError(
                f"Another run is grading {folder} (process {holder}). Nothing was done; "
                "wait until it has ended, or end it, and start again."
            ) from None
        except OSError as error:  # a file system of a network that has no locks
            _log.warning("%s cannot be locked: %s", folder, error)
        file.truncate(0)
        file.write(f"{os.getpid()} on {os.uname().nodename}\n")
        file.flush()
        yield
