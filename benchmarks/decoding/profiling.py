"""Where the time of our own runs goes."""

import cProfile
import pstats
import sys

from benchmarks.decoding.ours import Ours
from benchmarks.decoding.shapes import SHAPES
from benchmarks.decoding.timing import time_of

LINES = 15
SECONDS = 1.0  # short runs are repeated for so long


def profile(names: list[str]) -> None:
    """Print, for each shape, the functions of a run that take most time themselves."""
    for name in names:
        shape = SHAPES[name]
        ours = Ours(shape.weights(), shape.config)
        ours.generate(shape.prompt, shape.new_tokens)  # what is kept after the first run is made
        once = time_of(lambda ours=ours, shape=shape: ours.generate(shape.prompt, shape.new_tokens))
        profiler = cProfile.Profile()
        runs = max(1, round(SECONDS / once))
        profiler.enable()
        for _ in range(runs):
            ours.generate(shape.prompt, shape.new_tokens)
        profiler.disable()
        print(f"{name}: {runs} runs of {shape.new_tokens} tokens, {once:.4f} s each without the profiler")
        pstats.Stats(profiler, stream=sys.stdout).strip_dirs().sort_stats("tottime").print_stats(LINES)
