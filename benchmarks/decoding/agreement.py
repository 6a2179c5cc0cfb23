"""When two contenders compute the same: logits to a tolerance, and greedy tokens but for ties."""

import math

import numpy as np
from numpy.typing import NDArray

from benchmarks.decoding.contenders import Contender

TOLERANCE = 1e-5  # of a logit
TIE = 2 * TOLERANCE  # logits that are each off by no more may change places


def difference(found: NDArray[np.floating], expected: NDArray[np.floating]) -> float:
    """The largest difference of two tables of logits."""
    return float(np.abs(found - expected).max())


def gap_at_parting(ours: Contender, prompt: list[int], expected: list[int], found: list[int]) -> float | None:
    """By how much our logits tell two runs' tokens apart where the runs part; None where they do not.

    Infinity where one run ends before the other.
    """
    if found == expected:
        return None
    for place, (wanted, token) in enumerate(zip(expected, found, strict=False)):
        if wanted != token:
            row = ours.logits([*prompt, *expected[:place]], len(prompt))[-1]
            return abs(float(row[wanted] - row[token]))
    return math.inf
