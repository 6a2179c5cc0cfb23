"""What a cache saves: positions computed and read from it, how counts grow, and who may read whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray

from decoder_lib.generation import Generation, Step
from decoder_lib.plots.cells import (
    ABSENT,
    INK,
    KNOWN,
    MARKED,
    NEW,
    PLAIN,
    Look,
    axes,
    cell,
    frame,
    grid,
    legend,
    numbers,
    titled,
)
from decoder_lib.vocabulary import Vocabulary

_CURVES = (("-", "o"), ("--", "s"), (":", "^"), ("-.", "D"))


def plot_positions_read(
    runs: Mapping[str, Sequence[Step]], vocabulary: Vocabulary, title: str = "", ax: Axes | None = None
) -> Axes:
    """One grid per run with its count above: passes downwards, positions across, and each row's count behind.

    A pass computed the last `positions_read` tokens of its context (hatched, heavy frame) and took the ones
    before them from a cache (plain). Positions that the run had not reached are dotted.
    """
    longest = max((len(step.context) for steps in runs.values() for step in steps), default=1)
    height = sum(len(steps) + 1 for steps in runs.values())
    ax = axes(ax, min(7.0, 0.62 * longest + 1.1), 0.36 * height + 1.0)
    names: dict[float, str] = {}
    told = []
    top = 0
    for name, steps in runs.items():
        total = sum(step.positions_read for step in steps)
        head = f"{name}: {total} positions computed"
        ax.text(0.04, top + 0.55, head, va="center", fontsize=10, weight="bold")
        counts = []
        for number, step in enumerate(steps, 1):
            row, tokens = top + number, [vocabulary.tokens[token_id] for token_id in step.context]
            held = len(tokens) - step.positions_read
            for position in range(longest):
                look = ABSENT if position >= len(tokens) else KNOWN if position < held else NEW
                cell(ax, position, row, tokens[position] if position < len(tokens) else "", look)
            ax.text(longest + 0.15, row + 0.5, str(step.positions_read), va="center", fontsize=9)
            names[row + 0.5] = f"step {number}"
            counts.append(f"step {number} computed {step.positions_read} of {len(tokens)}")
        told.append(f"{name}, {total} positions computed in all: {', '.join(counts)}.")
        top += len(steps) + 1
    grid(ax, longest + 0.5, top, title, numbers(longest, first=1), names)
    ax.set_xlabel("position (at the right: how many the pass computed)")
    looks = {"computed in this pass": NEW, "read from the cache": KNOWN, "not there yet": ABSENT}
    below = {"loc": "upper center", "bbox_to_anchor": (0.45, -0.45 / (0.36 * top))}
    legend(ax, looks, ncol=3, columnspacing=1.2, **below)
    ax.set_label(f"Grids of passes by positions{titled(title)}. {' '.join(told)}")
    return ax


def plot_rereading(
    runs: Mapping[str, tuple[Generation, Generation]], title: str = "", ax: Axes | None = None
) -> Axes:
    """Two bars for each run and step: positions read without a cache (plain) and with one (hatched).

    runs : for each name, the run without a cache and the same run with one. Each has a band of its own.
    """
    ax = axes(ax, 5.2, 1.25 * len(runs) + 1.0)
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
    ax.tick_params(length=0, labelsize=9)
    ax.set_xlabel("step (left bar: without a cache; right, hatched bar: with one)")
    frame(ax, title, "top", "right", "bottom", "left")
    ax.set_label(f"Positions read by each pass{titled(title)}. {'. '.join(clauses)}.")
    return ax


def plot_growth(
    new_tokens: Sequence[int],
    counts: Mapping[str, Sequence[int]],
    title: str = "",
    ylabel: str = "positions computed",
    ax: Axes | None = None,
) -> Axes:
    """Curves of `counts` over `new_tokens`, told apart by dash and marker and named at their right ends."""
    ax = axes(ax, 5.4, 3.2)
    every = max(1, len(new_tokens) // 8)
    beside: Look = {"xytext": (7, 0), "textcoords": "offset points", "va": "center", "annotation_clip": False}
    for (name, values), (dash, marker) in zip(counts.items(), _CURVES, strict=False):
        line: Look = {"marker": marker, "markevery": every, "color": INK, "linewidth": 1.4, "markersize": 5}
        ax.plot(new_tokens, values, dash, **line)
        ax.annotate(f"{name}: {values[-1]:,}", (new_tokens[-1], values[-1]), fontsize=9, **beside)
    ax.set_xlabel("new tokens", fontsize=9)
    ax.set_ylabel(ylabel, fontsize=9)
    ax.tick_params(labelsize=9)
    frame(ax, title)
    curves = (f"{name} from {values[0]:,} to {values[-1]:,}" for name, values in counts.items())
    ax.set_label(
        f"Curves of {ylabel}{titled(title)}, from {new_tokens[0]} to {new_tokens[-1]} new tokens: "
        f"{'; '.join(curves)}."
    )
    return ax


def plot_fits(
    x: Sequence[int] | NDArray[np.integer],
    measured: Mapping[str, tuple[ArrayLike, ArrayLike]],
    title: str = "",
    xlabel: str = "positions",
    ylabel: str = "milliseconds",
) -> Axes:
    """Points over `x` with a curve fitted to them, one panel for each name; returns the first Axes.

    measured : a name, with the measured values and the coefficients of the polynomial fitted to them, the
        highest power first, as `np.polyfit` gives them.

    Each panel has a scale of its own, which begins at zero.
    """
    size = (3.3 * len(measured), 2.9)
    figure, panels = plt.subplots(1, len(measured), figsize=size, squeeze=False, layout="constrained")
    fine = np.linspace(x[0], x[-1], 100)
    sentences = []
    for ax, (name, (values, coefficients)) in zip(panels[0], measured.items(), strict=True):
        points, curve = np.asarray(values), np.polyval(np.asarray(coefficients), fine)
        ax.plot(fine, curve, "-", color=INK, linewidth=1.4, label="fitted")
        ax.plot(x, points, "o", color=MARKED, markeredgecolor=INK, markersize=5, label="measured")
        ax.set_xlim(0, 1.04 * x[-1])
        ax.set_ylim(0, 1.3 * max(points.max(), curve.max()))
        ax.set_xlabel(xlabel, fontsize=9)
        ax.set_ylabel(ylabel, fontsize=9)
        ax.tick_params(labelsize=9)
        frame(ax, name)
        ax.legend(loc="upper left", ncols=2, fontsize=9, frameon=False)
        sentences.append(
            f"{name}: measured from {points[0]:.3g} to {points[-1]:.3g} {ylabel}, "
            f"fitted from {curve[0]:.3g} to {curve[-1]:.3g}."
        )
    if title:
        figure.suptitle(title, fontsize=10, x=0.02, ha="left")
    first: Axes = panels[0, 0]
    first.set_label(
        f"Points with a fitted curve{titled(title)}, from {x[0]} to {x[-1]} {xlabel}. {' '.join(sentences)}"
    )
    return first


def plot_visible(chunks: Sequence[int], title: str = "", ax: Axes | None = None) -> Axes:
    """One row per query, one column per key, for a sequence read in passes of `chunks` positions each.

    The keys that the causal mask lets a query read are marked: hatched if they are computed in the query's
    own pass, plain if they are held since an earlier one. Later keys of the query's own pass are crossed out.
    A column without a cell is a position that did not exist when the pass ran. Positions count from 0, as in
    arrays.
    """
    total = sum(chunks)
    ax = axes(ax, 0.5 * total + 2.6, 0.42 * (total + len(chunks)) + 1.1)
    names: dict[float, str] = {}
    told: list[str] = []
    held, top = 0, 0
    for number, n in enumerate(chunks, 1):
        T = held + n  # noqa: N806 (the field's letter)
        ax.text(0.04, top + 0.55, f"pass {number}: n = {n}, T = {T}", va="center", fontsize=10, weight="bold")
        for row, own in enumerate(range(held, T), top + 1):
            names[row + 0.5] = f"query of position {own}"
            for key in range(T):
                later = key > own
                look = ABSENT if later else NEW if key >= held else KNOWN
                cell(ax, key, row, "×" if later else "", look, size=10)
        asks = f"position {held}" if n == 1 else f"positions {held} to {T - 1}"
        told.append(f"pass {number} has the queries of {asks} and takes {held} keys from the cache")
        held, top = T, top + n + 1
    grid(ax, total, top, title, numbers(total), names)
    ax.set_xlabel("key and value of position", fontsize=9)
    looks = {"key of the same pass": NEW, "key from the cache": KNOWN, "later: may not be read": ABSENT}
    legend(ax, looks, loc="upper right")
    ax.set_label(
        f"Queries by keys{titled(title)}. Each query reads every position up to its own and none after it: "
        f"{'; '.join(told)}."
    )
    return ax
