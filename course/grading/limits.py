"""What one notebook may use while it is graded."""

from dataclasses import dataclass

MEBI = 2**20


@dataclass(frozen=True)
class Limits:
    """What one notebook may use.

    cell_seconds : of one cell; it is interrupted then, and the cells after it run.
    cells_seconds : of all cells together.
    call_seconds : of one call of a student's function by a check. A slow but right solution needs about one.
    checks_seconds : of all checks together. Where checks run into their limit, the later ones get less, but
    least_seconds : is kept for each, so that one endless loop takes no points from the checks after it.
    memory : bytes of all its processes together, on top of what Python and the libraries take.
    processes : alive at the same time.
    disk : bytes in its home and in /tmp, together.
    output : bytes of output that are kept, of one cell.
    message : bytes of one message of the protocol.
    """

    cell_seconds: float = 30.0
    cells_seconds: float = 120.0
    call_seconds: float = 10.0
    checks_seconds: float = 30.0
    least_seconds: float = 2.0
    memory: int = 2048 * MEBI
    processes: int = 32
    disk: int = 64 * MEBI
    output: int = 4 * MEBI
    message: int = 16 * MEBI
