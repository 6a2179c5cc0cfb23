"""How a step with a cache and a pass over the whole prefix grow with the number of positions T."""

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from benchmarks.decoding.ours import Ours
from benchmarks.decoding.shapes import SHAPES
from benchmarks.decoding.tables import Table
from benchmarks.decoding.timing import say, time_of
from decoder_lib import CausalLanguageModel

SHAPE = SHAPES["small"]
LENGTHS = np.arange(16, SHAPE.config.context_length + 1, 16)
ROUNDS = 5
STEPS = 20  # a round and T
PASSES = 3


def tables(rounds: int | None) -> list[Table]:
    """Medians for each T, with what is fitted to them below."""
    say("curves")
    model = Ours(SHAPE.weights(), SHAPE.config).model
    steps, passes = measure(model, rounds or ROUNDS)
    table = Table(
        f"A step and a pass at T positions, {SHAPE.name}, float32",
        ("T", "step with a cache, µs", "pass without, µs", "pass / step"),
        notes=_fits(steps, passes),
    )
    for length, step, whole in zip(LENGTHS, steps, passes, strict=True):
        table.add(str(length), f"{1e6 * step:.0f}", f"{1e6 * whole:.0f}", f"{whole / step:.1f}")
    return [table]


def measure(model: CausalLanguageModel, rounds: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Seconds of a step behind T - 1 cached positions, and of a pass over T: (lengths,) each."""
    ids = SHAPE.tokens(SHAPE.config.context_length)
    steps: list[list[float]] = []
    passes: list[list[float]] = []
    for _ in range(rounds):
        steps.append([_step(model, ids[:length]) for length in LENGTHS])
        passes.append(
            [_middle(lambda length=length: model.logits(ids[:length]), PASSES) for length in LENGTHS]
        )
    return np.median(steps, axis=0), np.median(passes, axis=0)


def _step(model: CausalLanguageModel, ids: list[int]) -> float:
    """Median seconds to read the last of `ids` behind the others."""
    cache = model.new_cache()
    model.logits(ids[:-1], cache=cache)
    found = []
    for _ in range(STEPS):
        start = time.perf_counter()
        model.logits(ids[-1:], cache=cache)
        found.append(time.perf_counter() - start)
        cache.crop(len(ids) - 1)
    return float(np.median(found))


def _middle(run: Callable[[], object], times: int) -> float:
    return float(np.median([time_of(run) for _ in range(times)]))


def _fits(steps: NDArray[np.float64], passes: NDArray[np.float64]) -> list[str]:
    slope, fixed = 1e6 * np.polyfit(LENGTHS, steps, 1)
    square, linear, constant = 1e6 * np.polyfit(LENGTHS, passes, 2)
    exponent = np.polyfit(np.log(LENGTHS), np.log(passes), 1)[0]
    return [
        f"A step: {fixed:.0f} + {slope:.2f} T µs.",
        f"A pass: {constant:.0f} + {linear:.1f} T + {square:.3f} T² µs; as a power of T, the exponent is "
        f"{exponent:.2f}.",
    ]
