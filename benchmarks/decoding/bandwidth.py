"""How near a token of the GPT-2 shape comes to the time that reading its weights from memory takes.

Each number of threads has a process of its own, since libraries read theirs once: this module, run as a
script, prints one measurement as JSON.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from statistics import median

import numpy as np

from benchmarks.decoding.ours import Ours
from benchmarks.decoding.shapes import SHAPES, Weights
from benchmarks.decoding.tables import Table
from benchmarks.decoding.threads import environment
from benchmarks.decoding.timing import interleave, say

SHAPE = SHAPES["gpt2"]
ROUNDS = 5
TARGETS = {1: 0.6, 2: 0.8}  # share of the bound, by threads
SIDE = 16384  # of a square matrix of 1 GiB, which no cache holds


@dataclass(frozen=True)
class Measured:
    """One process's figures.

    seconds : a token, the prompt's pass left out.
    weights : bytes of the matrices that a token reads.
    rate, way : bytes a second of the fastest way to read memory, and which that was.
    """

    seconds: float
    weights: int
    rate: float
    way: str


def tables(rounds: int | None) -> list[Table]:
    """A row for each number of threads, each measured in a process of its own."""
    table = Table(
        f"Share of the memory's bandwidth, {SHAPE.name}",
        ("threads", "ms a token", "MB a token", "GB/s read", "ms to read", "share", "target"),
        notes=[
            "What is read: every weight matrix, the token embedding once, as the unembedding. The rate: the "
            "fastest of four ways to read 1 GiB that NumPy offers, in the same process and in turns with the "
            "runs. A token: the run less a run of one token, so that the prompt's pass is left out."
        ],
    )
    for threads, target in TARGETS.items():
        say(f"bandwidth, {threads} thread{'s' * (threads > 1)}")
        found = _in_a_child(threads, rounds or ROUNDS)
        reading = found.weights / found.rate
        table.add(
            str(threads),
            f"{1e3 * found.seconds:.1f}",
            f"{found.weights / 1e6:.0f}",
            f"{found.rate / 1e9:.1f} ({found.way})",
            f"{1e3 * reading:.1f}",
            f"{reading / found.seconds:.2f}",
            f"at least {target:g}",
        )
    return [table]


def _in_a_child(threads: int, rounds: int) -> Measured:
    command = [sys.executable, "-m", "benchmarks.decoding.bandwidth", str(rounds)]
    done = subprocess.run(command, env=environment(threads), check=True, stdout=subprocess.PIPE, text=True)
    return Measured(**json.loads(done.stdout))


def measure(rounds: int) -> Measured:
    """The figures of this process."""
    weights = SHAPE.weights()
    ours = Ours(weights, SHAPE.config)
    runs: dict[str, Callable[[], object]] = {
        "all": lambda: ours.generate(SHAPE.prompt, SHAPE.new_tokens),
        "first": lambda: ours.generate(SHAPE.prompt, 1),
    }
    ways = reads()
    seconds = {name: median(found) for name, found in interleave(runs | ways, rounds).items()}
    way = min(ways, key=seconds.__getitem__)
    return Measured(
        (seconds["all"] - seconds["first"]) / (SHAPE.new_tokens - 1),
        bytes_read(weights),
        4 * SIDE * SIDE / seconds[way],
        way,
    )


def bytes_read(weights: Weights) -> int:
    """Bytes of the matrices that a step multiplies by; of the positions' it reads one row."""
    return sum(value.nbytes for name, value in weights.items() if value.ndim == 2 and name != "wpe")


def reads() -> dict[str, Callable[[], object]]:
    """Ways to read 1 GiB once that do little else; none is the fastest on every machine."""
    square = np.ones((SIDE, SIDE), np.float32)
    vector = np.ones(SIDE, np.float32)
    upper, lower = square.reshape(2, -1)
    return {
        "matrix by vector": lambda: square.dot(vector),
        "vector by matrix": lambda: vector.dot(square),
        "dot product": lambda: upper.dot(lower),
        "sum": square.sum,
    }


if __name__ == "__main__":
    print(json.dumps(asdict(measure(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS))))
