"""Which slip a wrong attention comes from: the answer that a known slip would give, compared."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from course.checks.cache_reuse.attention_cases import Array, Inputs, attend, causal, close
from course.checks.failures import RaisedError, Slip
from course.checks.sections import CACHE, REUSE

NO_MASK = Slip(
    "K5",
    "Your attention has no causal mask: a query reads positions later than its own. Set their scores to "
    "minus infinity before the softmax.",
    CACHE,
)
ONE_LATER = Slip(
    None,
    "Your mask lets each query read one position too many: its own is the last one that it may read.",
    CACHE,
)
MASK_TOO_LATE = Slip(
    "K5",
    "Later positions get no share in the end, but they take part in the softmax: hide their scores with "
    "minus infinity *before* it, so that the shares of what may be read sum to 1.",
    CACHE,
)
UPPER_LEFT = Slip(
    "K4",
    "Your mask starts at the upper left, as if query 0 stood at position 0. The queries are the *last* n "
    "positions: query i stands at T - n + i.",
    REUSE,
)
SQUARE = Slip(
    "K3",
    "Your mask is square, n by n, and the scores are n by T: with a cache there are more keys than queries. "
    "Make the mask n by T, with query i at position T - n + i.",
    REUSE,
)
NOT_ITSELF = Slip(
    "K7",
    "Your mask hides each query's own position from it: a query reads the positions before its own *and* "
    "its own, the newest key and value among them.",
    REUSE,
)
UNSTABLE = Slip(
    None,
    "Your softmax does not stand large scores: take the largest score that each query may read off its row "
    "before the exponential, and hide scores with minus infinity. No exponential is then above 1.",
    REUSE,
)
CHANGES = Slip(
    None,
    "Your function changes the arrays that it is given: `*=`, `/=` and `x[...] = ` work on the caller's own "
    "numbers. Make new arrays instead.",
    REUSE,
)
NOT_A_NUMBER = Slip(
    None,
    "Your attention gives NaN, which is no number: minus infinity times 0 does that, and so does a row in "
    "which every score is hidden. Choose with np.where rather than multiply by a mask.",
    REUSE,
)
SINGLE = Slip(
    "K13",
    "Your answer agrees to about seven digits only: something in it is rounded, or computed in float32. "
    "Stay in float64, and compare with a tolerance rather than make numbers equal.",
    REUSE,
)


def _value_slips(inputs: Inputs) -> Iterator[tuple[Slip, Array]]:
    n, d = inputs.shape
    T = len(inputs.keys)  # noqa: N806
    root = "divided by the square root of d_head"
    factors = {
        f"Your scores are not scaled: the dot products are {root}.": 1.0,
        f"Your scores are divided by d_head itself; they are {root}.": 1 / d,
        f"Your scores are multiplied by the square root of d_head; they are {root}.": math.sqrt(d),
        f"Your scores are divided by the square root of the number of positions; they are {root}.": (
            1 / math.sqrt(T)
        ),
        f"Your scores are scaled twice; they are {root}, once.": d**-0.25,
    }
    for sentence, scale in factors.items():
        yield Slip("K12", sentence, REUSE), attend(inputs, scale=scale)
    scores = np.where(causal(n, T), inputs.queries @ inputs.keys.T / math.sqrt(d), -np.inf)
    shares = np.exp(scores - scores.max(axis=0))
    down = "Your softmax goes down the columns: each query's shares over the positions (axis 1) sum to 1."
    yield Slip(None, down, REUSE), shares / shares.sum(axis=0) @ inputs.values
    yield NOT_ITSELF, attend(inputs, causal(n, T, -1))


def value_slip(inputs: Inputs, last: Array) -> Slip | None:
    """The slip behind a wrong last row, (d,)."""
    if not np.isfinite(last).all():
        return NOT_A_NUMBER
    for slip, answer in _value_slips(inputs):
        if close(last, answer[-1]):
            return slip
    if np.allclose(last, attend(inputs)[-1], rtol=1e-3, atol=1e-4):
        return SINGLE
    return None


def mask_slip(read: NDArray[np.bool_]) -> Slip | None:
    """The slip behind a wrong mask; `read` says which positions each query was seen to read, (n, T)."""
    n, T = read.shape  # noqa: N806
    known: list[tuple[Slip, NDArray[np.bool_]]] = [
        (NO_MASK, np.ones((n, T), dtype=bool)),
        (NOT_ITSELF, causal(n, T, -1)),
        (ONE_LATER, causal(n, T, 1)),
        (SQUARE, np.hstack([np.zeros((n, T - n), dtype=bool), np.tri(n, dtype=bool)])),
    ]
    if n < T:
        known.insert(0, (UPPER_LEFT, np.tri(n, T, dtype=bool)))
    return next((slip for slip, mask in known if np.array_equal(read, mask)), None)


def square_slip(raised: RaisedError) -> Slip | None:
    """The slip behind an error of arrays that do not fit together where n < T."""
    words = ("broadcast", "shape", "mismatch", "operands", "index")
    fits = not any(word in raised.error.message for word in words)
    return None if fits else SQUARE
