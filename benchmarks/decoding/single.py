"""One sequence: every contender on every shape, each shown to agree before it is timed."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from benchmarks.decoding.agreement import TIE, TOLERANCE, difference, gap_at_parting
from benchmarks.decoding.contenders import OURS, Contender, contenders
from benchmarks.decoding.shapes import SHAPES, Shape
from benchmarks.decoding.tables import Table, ratios, verdict
from benchmarks.decoding.timing import interleave, say

FORCED = 32  # tokens after the prompt at most that the agreement of logits is shown on

# A contender's seconds over ours that we aim at, at least.
TARGETS = {
    "NumPy without a cache": {"tiny": 5.0, "small": 25.0, "gpt2": 10.0},
    "torch without a cache": {"tiny": 5.0, "small": 15.0, "gpt2": 6.0},
    "torch with a cache": {"tiny": 2.0, "small": 2.0, "gpt2": 1.1},
    "transformers": {"tiny": 12.0, "small": 5.0, "gpt2": 1.3},
    "onnxruntime": {"tiny": 1.3, "small": 1.5, "gpt2": 1.2},
    "CTranslate2": {"small": 1.0, "gpt2": 1.0},
}


def tables(names: list[str], rounds: int | None) -> Iterator[Table]:
    """For each shape, how far the contenders agree, then their seconds and ratios."""
    for name in names:
        say(f"one sequence, {name}")
        yield from _tables(SHAPES[name], rounds or SHAPES[name].rounds)


def _tables(shape: Shape, rounds: int) -> Iterator[Table]:
    weights = shape.weights()
    forced = min(FORCED, shape.new_tokens)
    agreement = Table(
        f"Agreement, {shape.name}",
        ("", "largest difference of logits", "of the largest logit", "tokens", ""),
        notes=[
            f"Against ours: logits on {forced} random tokens given one by one after a prompt of "
            f"{shape.prompt_length}, and the {shape.new_tokens} tokens of the run that is timed. A contender "
            f"agrees where no logit differs by more than {TOLERANCE:g}, and tokens only after a tie within "
            f"{TIE:g}."
        ],
    )
    ids = shape.tokens(shape.prompt_length + forced)
    taking_part: dict[str, Contender] = {}
    for name, contender in contenders(weights, shape.config):
        rows = contender.logits(ids, shape.prompt_length)  # (forced + 1, V)
        made = contender.generate(shape.prompt, shape.new_tokens)
        if name == OURS:  # the first
            ours, our_rows, our_tokens = contender, rows, made
            taking_part[name] = contender
            continue
        apart = difference(rows, our_rows)
        gap = gap_at_parting(ours, shape.prompt, our_tokens, made)
        agrees = apart <= TOLERANCE and (gap is None or gap <= TIE)
        if agrees:
            taking_part[name] = contender
        agreement.add(
            name,
            f"{apart:.1e}",
            f"{apart / float(np.abs(our_rows).max()):.1e}",
            f"all {len(made)} the same" if gap is None else f"part at a gap of {gap:.1e}",
            verdict(agrees),
        )
    yield agreement

    say("  timing")
    runs = {
        name: partial(contender.generate, shape.prompt, shape.new_tokens)
        for name, contender in taking_part.items()
    }
    seconds = interleave(runs, rounds, warm=False)  # each has made its run already
    targets = {name: found[shape.name] for name, found in TARGETS.items() if shape.name in found}
    yield ratios(f"One sequence, {shape}", seconds, targets)
