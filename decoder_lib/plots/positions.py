"""Which positions each pass of a run computed, and which it took from a cache."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from decoder_lib.generation import Step
from decoder_lib.plots.style import INK, MARKED, PLAIN, titled
from decoder_lib.vocabulary import Vocabulary

_COMPUTED: dict[str, Any] = {"facecolor": MARKED, "hatch": "//", "linewidth": 1.8}
_CACHED: dict[str, Any] = {"facecolor": PLAIN, "linewidth": 0.6}
_ABSENT: dict[str, Any] = {"facecolor": "white", "linewidth": 0.8, "linestyle": ":"}
_LEGEND = {"computed in this pass": _COMPUTED, "read from the cache": _CACHED, "not there yet": _ABSENT}


def plot_positions_read(
    runs: Mapping[str, Sequence[Step]], vocabulary: Vocabulary, title: str = "", ax: Axes | None = None
) -> Axes:
    """A grid a run, headed by its key: passes downwards, positions across, and each row's count at its end.

    A pass computed the last `positions_read` tokens of its context (hatched, heavy frame) and took the ones
    before them from a cache (plain). Positions that the run had not reached are dotted.
    """
    longest = max((len(step.context) for steps in runs.values() for step in steps), default=1)
    rows = sum(len(steps) + 1 for steps in runs.values())
    if ax is None:
        size = (min(7.0, 0.62 * longest + 1.1), 0.36 * rows + 1.0)
        _, ax = plt.subplots(figsize=size, layout="constrained")
    labelled: dict[float, str] = {}
    top = 0
    for name, steps in runs.items():
        total = sum(step.positions_read for step in steps)
        ax.text(
            0.04, top + 0.55, f"{name}: {total} positions computed", va="center", fontsize=10, weight="bold"
        )
        for row, step in enumerate(steps, top + 1):
            labelled[row + 0.5] = f"step {row - top}"
            _draw_pass(ax, row, step, vocabulary, longest)
        top += len(steps) + 1
    ax.set_xlim(0, longest + 0.5)
    ax.set_ylim(top, 0)
    ax.set_xticks(np.arange(longest) + 0.5, [str(position + 1) for position in range(longest)])
    ax.set_xlabel("position (at the right: how many the pass computed)")
    ax.set_yticks(list(labelled), list(labelled.values()))
    ax.tick_params(length=0, labelsize=9)
    ax.spines[:].set_visible(False)
    ax.set_title(title, fontsize=10, loc="left")
    handles = [Rectangle((0, 0), 1, 1, edgecolor=INK, label=name, **kind) for name, kind in _LEGEND.items()]
    ax.legend(
        handles=handles,
        ncol=3,
        loc="upper center",
        bbox_to_anchor=(0.45, -0.45 / (0.36 * top)),
        frameon=False,
        fontsize=9,
        handlelength=1.4,
        columnspacing=1.2,
    )
    ax.set_label(f"Grids of passes by positions{titled(title)}. {' '.join(_in_words(runs))}")
    return ax


def _draw_pass(ax: Axes, row: int, step: Step, vocabulary: Vocabulary, longest: int) -> None:
    held = len(step.context) - step.positions_read
    for position in range(longest):
        there = position < len(step.context)
        kind = _ABSENT if not there else _CACHED if position < held else _COMPUTED
        ax.add_patch(Rectangle((position + 0.05, row + 0.1), 0.9, 0.8, edgecolor=INK, **kind))
        if there:
            token = vocabulary.tokens[int(step.context[position])]
            word = ax.text(position + 0.5, row + 0.5, token, ha="center", va="center", fontsize=9)
            if position >= held:
                word.set(weight="bold", bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8})
    ax.text(longest + 0.15, row + 0.5, str(step.positions_read), va="center", fontsize=9)


def _in_words(runs: Mapping[str, Sequence[Step]]) -> Iterator[str]:
    for name, steps in runs.items():
        counts = (
            f"step {number} computed {step.positions_read} of {len(step.context)}"
            for number, step in enumerate(steps, 1)
        )
        total = sum(step.positions_read for step in steps)
        yield f"{name}, {total} positions computed in all: {', '.join(counts)}."
