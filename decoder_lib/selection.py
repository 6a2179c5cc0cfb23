"""From one row of logits to one token id: the selection rule."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from decoder_lib.internal.arguments import check_integer, check_number, check_switch
from decoder_lib.transformer import log_softmax

ROUNDING = 1e-12  # a set whose probability falls short of top_p by less than this has reached it


@dataclass(frozen=True)
class Selection:
    """A rule that turns logits into a distribution, and the distribution into a token.

    greedy : take the most probable token, the lowest id on a tie; the three controls below are then ignored.
    temperature : logits are divided by it before the softmax; above 1 flattens, below 1 sharpens.
    top_k : only the k most probable tokens stay (Fan et al. 2018, section 5.4).
    top_p : only the smallest set of most probable tokens with at least this probability stays (nucleus
        sampling, Holtzman et al. 2020, section 3.1). Applied after top_k.

    Of equally probable tokens, the one with the lower id counts as more probable. What a filter removes gets
    probability 0, and the rest is scaled to sum to 1 again.
    Raises ValueError where a control is outside its range.
    """

    greedy: bool = False
    temperature: float = 1.0
    top_k: int | None = None
    top_p: float | None = None

    def __post_init__(self) -> None:
        check_switch("greedy", self.greedy)
        if self.greedy:
            return
        check_number("temperature", self.temperature, above=0.0)
        if self.top_k is not None:
            check_integer("top_k", self.top_k, 1)
        if self.top_p is not None:
            check_number("top_p", self.top_p, above=0.0, high=1.0)

    def log_distribution(self, logits: NDArray[np.floating]) -> NDArray[np.float64]:
        """Natural logarithm of the distribution that tokens are selected from, (..., V) -> float64 (..., V).

        Minus infinity where a filter leaves a token out. Under greedy selection it is the model's own
        distribution, with no control applied.
        """
        scores = np.asarray(logits, dtype=np.float64)
        if self.greedy:
            return log_softmax(scores)
        # The largest is taken off before dividing, so that 1e6 / 1e-300 stays finite.
        scores = scores - scores.max(axis=-1, keepdims=True)
        with np.errstate(over="ignore"):  # a probability too small for any float is zero
            scores = scores / float(self.temperature)  # a NumPy scalar would bring its own precision
        if self.top_k is not None or self.top_p is not None:
            scores = np.where(self._kept(log_softmax(scores)), scores, -np.inf)
        return log_softmax(scores)

    def _kept(self, log_probabilities: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which tokens the filters leave in, (..., V)."""
        order = np.argsort(-log_probabilities, axis=-1, kind="stable")  # most probable first, lower id first
        rank = np.argsort(order, axis=-1)  # (..., V): place of each token in that order
        kept = np.ones(log_probabilities.shape, dtype=bool)
        if self.top_k is not None:
            kept &= rank < self.top_k
        if self.top_p is not None and self.top_p < 1.0:  # all of it is no filter
            probabilities = np.exp(np.where(kept, log_probabilities, -np.inf))
            probabilities /= probabilities.sum(axis=-1, keepdims=True)
            ordered = np.take_along_axis(probabilities, order, axis=-1)
            before = np.cumsum(ordered, axis=-1) - ordered  # what the more probable ones hold together
            short = np.take_along_axis(before, rank, axis=-1) < self.top_p - ROUNDING
            kept &= short | (rank == 0)
        return kept

    def select(
        self, log_distribution: NDArray[np.float64], rng: np.random.Generator
    ) -> tuple[int, float | None]:
        """A token id from one row (V,), and the uniform number in [0, 1) that decided it; None if greedy."""
        if self.greedy:
            return int(np.argmax(log_distribution)), None
        uniform = float(rng.random())
        return draw(np.exp(log_distribution), uniform), uniform


def draw(probabilities: NDArray[np.float64], uniform: float) -> int:
    """The token id that `uniform` falls on, a number in [0, 1), where the probabilities (V,) lie end to end.

    They lie in ascending order of their ids. With `uniform = rng.random()` this is the token that
    `rng.choice(V, p=probabilities)` draws.
    """
    cumulative = np.cumsum(probabilities)
    return int(np.searchsorted(cumulative / cumulative[-1], uniform, side="right"))
