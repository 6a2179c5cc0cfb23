"""The loop as a diagram, the prefixes that a run reads, and how many runs ended after how many tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from decoder_lib.generation import Generation, Step
from decoder_lib.plots.cells import (
    INK,
    KNOWN,
    MARKED,
    NEW,
    OPEN,
    PLAIN,
    Look,
    axes,
    cell,
    frame,
    grid,
    middles,
    numbers,
    titled,
)
from decoder_lib.vocabulary import Vocabulary

_STATIONS = ("predict", "select", "append", "boundary\nreached?")
_WORK = ("one pass over\nthe prefix", "one token from\nthe last row", "prefix is one\ntoken longer", "")
_ENDINGS = (
    ("stop", "the end token", MARKED, "//"),
    ("length", "the length bound", PLAIN, None),
    ("context", "the context bound", "white", ".."),
)


def plot_loop(title: str = "", ax: Axes | None = None) -> Axes:
    """Predict, select, append, and the question that ends the loop or sends it round again."""
    ax = axes(ax, 5.6, 3.0)
    last = len(_STATIONS) - 1
    for place, (station, work) in enumerate(zip(_STATIONS, _WORK, strict=True)):
        _station(ax, place, 0.0, station, MARKED if place == last else PLAIN)
        ax.text(place, -0.5, work, ha="center", va="top", fontsize=9)
        if place:
            _arrow(ax, (place - 0.67, 0.0), (place - 0.42, 0.0))
    ax.plot([last, last, 0], [0.34, 0.95, 0.95], color=INK, linewidth=1.4)
    _arrow(ax, (0, 0.97), (0, 0.32))
    ax.text(last / 2, 1.02, "no: read the longer prefix", ha="center", va="bottom", fontsize=9)
    _arrow(ax, (last, -0.34), (last, -1.0))
    yes = "yes: end token selected,\nor length limit reached"
    ax.text(last - 0.32, -1.3, yes, ha="right", va="center", fontsize=9)
    _station(ax, last, -1.3, "stop", "white")
    ax.set_xlim(-0.45, last + 0.45)
    ax.set_ylim(-1.65, 1.3)
    ax.set_axis_off()
    ax.set_title(title, fontsize=10, loc="left")
    ax.set_label(
        f"Diagram of a loop{titled(title)}. Predict, one pass over the prefix; then select one token from "
        "the last row; then append it, so that the prefix is one token longer; then ask whether a boundary "
        "is reached. If not, go back to predict and read the longer prefix. If an end token was selected or "
        "a length limit is reached, stop."
    )
    return ax


def _station(ax: Axes, x: float, y: float, text: str, fill: str) -> None:
    box = {"boxstyle": "round,pad=0.45", "facecolor": fill, "edgecolor": INK, "linewidth": 1.4}
    ax.text(x, y, text, ha="center", va="center", fontsize=10, weight="bold", bbox=box)


def _arrow(ax: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    style = {"arrowstyle": "-|>", "color": INK, "linewidth": 1.4, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", xy=end, xytext=start, arrowprops=style)


def plot_token_rows(
    rows: Mapping[str, Sequence[str]],
    marked: Mapping[str, int] | None = None,
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """A labelled row of cells for each entry of `rows`, one cell per token.

    marked : the cell to hatch and frame in a row, counted from 0, by the row's label.
    A token "?" is drawn as an open place, with a dashed frame.
    """
    marks = dict(marked or {})
    longest = max((len(tokens) for tokens in rows.values()), default=1)
    ax = axes(ax, min(6.4, max(3.8, 0.85 * longest + 1.5)), 0.5 * len(rows) + 0.4)
    lines = []
    for row, (label, tokens) in enumerate(rows.items()):
        told = []
        for place, token in enumerate(tokens):
            is_open, is_marked = token == "?", place == marks.get(label)
            cell(ax, place, row, token, OPEN if is_open else NEW if is_marked else KNOWN, size=10)
            told.append("an open place" if is_open else f"{token} (marked)" if is_marked else token)
        lines.append(f"{label}: {', '.join(told)}")
    grid(ax, longest, len(rows), title, (), middles(list(rows)))
    ax.tick_params(labelsize=10)
    ax.set_label(f"Rows of tokens{titled(title)}. {'; '.join(lines)}.")
    return ax


def plot_prefixes(
    steps: Sequence[Step], vocabulary: Vocabulary, title: str = "", ax: Axes | None = None
) -> Axes:
    """One row per pass: the prefix that it read in cells, and the token that it selected in a heavy frame."""
    longest = max((len(step.context) for step in steps), default=0) + 1
    ax = axes(ax, max(4.6, 0.66 * longest + 0.7), 0.46 * len(steps) + 0.9)
    told = []
    for row, step in enumerate(steps):
        selected = vocabulary.tokens[step.token_id]
        for position, token_id in enumerate(step.context):
            cell(ax, position, row, vocabulary.tokens[token_id])
        cell(ax, len(step.context), row, selected, NEW)
        told.append(f"step {row + 1} read {vocabulary.decode(step.context)} and selected {selected}")
    names = [f"step {row + 1}" for row in range(len(steps))]
    grid(ax, longest, max(len(steps), 1), title, numbers(longest, first=1), middles(names))
    ax.tick_params(labelsize=10)
    ax.set_xlabel("position (the framed, hatched token is the one just selected)")
    ax.set_label(f"A staircase of growing prefixes{titled(title)}: {'; '.join(told)}.")
    return ax


def plot_endings(groups: Mapping[str, Sequence[Generation]], longest: int, title: str = "") -> Axes:
    """Bars of how many runs returned 0 to `longest` new tokens, one panel per group; returns the first Axes.

    The part of a bar is hatched if the end token ended the runs, plain for the length bound and dotted for
    the context bound. Above each bar are the counts of its parts, from the bottom up.
    """
    size = (5.4, 1.75 * len(groups) + 0.75)
    figure, panels = plt.subplots(
        len(groups), 1, figsize=size, sharex=True, squeeze=False, layout="constrained"
    )
    lengths = np.arange(longest + 1)
    reasons = {run.finish_reason for runs in groups.values() for run in runs}
    sentences = []
    for ax, (name, runs) in zip(panels[:, 0], groups.items(), strict=True):
        below = np.zeros(longest + 1, dtype=np.int64)
        told = []
        parts_of: list[list[str]] = [[] for _ in lengths]
        for reason, words, colour, hatch in _ENDINGS:
            if reason not in reasons:
                continue
            ended = [len(run) for run in runs if run.finish_reason == reason]
            counts = np.bincount(ended, minlength=longest + 1)  # (longest + 1,)
            look: Look = {"color": colour, "hatch": hatch, "edgecolor": INK, "linewidth": 0.6}
            ax.bar(lengths, counts, bottom=below, label=f"ended by {words}", **look)
            below = below + counts
            for n in np.flatnonzero(counts).tolist():
                parts_of[n].append(str(counts[n]))
                told.append(f"{counts[n]} of {n} tokens by {words}")
        for n in np.flatnonzero(below).tolist():
            ax.text(n, below[n], " + ".join(parts_of[n]), ha="center", va="bottom", fontsize=9)
        ax.set_ylim(0, 1.2 * max(1, int(below.max())))
        ax.set_ylabel("runs")
        frame(ax, name)
        sentences.append(f"{name}: {', '.join(told)}.")
    first: Axes = panels[0, 0]
    empty = any(len(run) == 0 for runs in groups.values() for run in runs)
    panels[-1, 0].set_xlim(-0.6 if empty else 0.4, longest + 0.6)
    panels[-1, 0].set_xticks(lengths if empty else lengths[1:])
    panels[-1, 0].set_xlabel("new tokens returned")
    figure.legend(*first.get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=9)
    if title:
        figure.suptitle(title, fontsize=10, x=0.02, ha="left")
    first.set_label(
        f"Bar chart of how long runs became and what ended them{titled(title)}. {' '.join(sentences)}"
    )
    return first
