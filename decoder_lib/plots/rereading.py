"""How many positions each pass computes, with a cache and without."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from decoder_lib.generation import Generation
from decoder_lib.plots.style import INK, MARKED, PLAIN, titled


def plot_rereading(
    runs: Mapping[str, tuple[Generation, Generation]], title: str = "", ax: Axes | None = None
) -> Axes:
    """A group of bars a run and step: positions read without a cache (plain) and with one (hatched).

    runs : for each name, the run without a cache and the same run with one. A band of its own for each.
    """
    if ax is None:
        _, ax = plt.subplots(figsize=(5.2, 1.25 * len(runs) + 1.0), layout="constrained")
    tallest = max((step.positions_read for pair in runs.values() for run in pair for step in run), default=1)
    band = 1.55 * tallest
    longest = max((len(run) for pair in runs.values() for run in pair), default=1)
    clauses = []
    for n, (name, (without, cached)) in enumerate(runs.items()):
        floor = -n * band
        for run, colour, hatch, side in ((without, PLAIN, "", -0.2), (cached, MARKED, "//", 0.2)):
            counts = [step.positions_read for step in run]
            places = np.arange(len(run)) + 1.0 + side
            ax.bar(places, counts, 0.38, floor, color=colour, hatch=hatch, edgecolor=INK, linewidth=0.6)
            for place, count in zip(places, counts, strict=True):
                ax.text(place, floor + count + 0.03 * band, str(count), ha="center", fontsize=9)
        ax.axhline(floor, color=INK, linewidth=0.8)
        totals = f"{without.positions_read} without a cache, {cached.positions_read} with one"
        ax.text(0.5, floor + 1.27 * tallest, f"{name}: {totals}", fontsize=9, weight="bold")
        steps = zip(without, cached, strict=True)
        each = ", ".join(f"{a.positions_read} and {b.positions_read}" for a, b in steps)
        clauses.append(f"{name}, step by step without and with a cache: {each}; in all {totals}")
    ax.set_xlim(0.45, longest + 0.6)
    ax.set_ylim(-(len(runs) - 1) * band - 0.02 * band, 1.5 * tallest)
    ax.set_xticks(np.arange(longest) + 1)
    ax.set_yticks([])
    ax.set_xlabel("step (left bar: without a cache; right, hatched bar: with one)")
    ax.set_title(title, fontsize=10, loc="left")
    ax.tick_params(length=0, labelsize=9)
    ax.spines[:].set_visible(False)
    ax.set_label(f"Positions read by each pass{titled(title)}. {'. '.join(clauses)}.")
    return ax
