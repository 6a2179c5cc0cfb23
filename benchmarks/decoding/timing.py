"""Runs of several contenders in turns."""

import gc
import sys
import time
from collections.abc import Callable, Mapping
from statistics import median

SLOW = 10.0  # seconds; what takes longer is run in no more than so many rounds:
ROUNDS_OF_SLOW = 3
TURN = 0.05  # seconds


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
    """Seconds of one run; a short one is repeated in its turn, until the turn has taken `TURN`.

    As in `timeit`, garbage is collected before and not meanwhile: looking through the objects of all the
    packages that are loaded here is no part of a run.
    """
    gc.collect()
    gc.disable()
    try:
        runs, taken, start = 0, 0.0, time.perf_counter()
        while not runs or taken < TURN:
            run()
            runs, taken = runs + 1, time.perf_counter() - start
        return taken / runs
    finally:
        gc.enable()


def say(text: str) -> None:
    """What goes on, beside the tables."""
    print(text, file=sys.stderr, flush=True)
