"""Runs of several contenders in turns."""

import sys
import time
from collections.abc import Callable, Mapping
from statistics import median

SLOW = 10.0  # seconds; what takes longer is run in no more than so many rounds:
ROUNDS_OF_SLOW = 3


def interleave(
    runs: Mapping[str, Callable[[], object]], rounds: int, warm: bool = True
) -> dict[str, list[float]]:
    """Seconds of every run, round by round; what machine and heat do to one, they do to its neighbours.

    warm : run each once before, untimed.
    """
    if warm:
        for run in runs.values():
            run()
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            found = seconds[name]
            if len(found) < ROUNDS_OF_SLOW or median(found) < SLOW:
                found.append(time_of(run))
    return seconds


def time_of(run: Callable[[], object]) -> float:
    """Seconds of one run."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def say(text: str) -> None:
    """What goes on, beside the tables."""
    print(text, file=sys.stderr, flush=True)
