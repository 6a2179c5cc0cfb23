"""What one file may use, and how its process is held to it."""

from __future__ import annotations

import contextlib
import os
import resource
from dataclasses import dataclass
from pathlib import Path

MEBI = 2**20


@dataclass(frozen=True)
class Limits:
    """What one file may use.

    check_seconds : of the import, and of each check. A slow but right solution needs about one.
    file_seconds : of all together. Where checks run into their limit, the later ones get less, but
    least_seconds : is kept for each, so that one endless loop takes no points from the checks after it.
    memory : bytes on top of what Python, NumPy and the checks take.
    file_size : bytes of a file that is written.
    processes : children alive at the same time.
    """

    check_seconds: float = 10.0
    file_seconds: float = 30.0
    least_seconds: float = 2.0
    memory: int = 2048 * MEBI
    file_size: int = 64 * MEBI
    processes: int = 50


def confine(limits: Limits) -> None:
    """Hold this process, and what it starts, to the limits that the system can watch over."""
    seconds = int(limits.file_seconds) + 5  # whoever follows the process is first: this is for lost children
    for what, most in (
        (resource.RLIMIT_AS, _size_of_this_process() + limits.memory),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_FSIZE, limits.file_size),
        (resource.RLIMIT_CORE, 0),
    ):
        with contextlib.suppress(ValueError, OSError):  # a stricter limit is in force, or the system has none
            resource.setrlimit(what, (most, most))


def _size_of_this_process() -> int:
    """Bytes of address space: libraries map far more than they use."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 4096 * MEBI  # no Linux: a generous guess
