"""The generation loop as a diagram."""

from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from decoder_lib.plots.style import INK, MARKED, PLAIN, titled

_STATIONS = ("predict", "select", "append", "boundary\nreached?")
_WORK = ("one pass over\nthe prefix", "one token from\nthe last row", "prefix is one\ntoken longer", "")


def plot_loop(title: str = "", ax: Axes | None = None) -> Axes:
    """Predict, select, append, and the question that ends the loop or sends it round again."""
    if ax is None:
        _, ax = plt.subplots(figsize=(5.6, 3.0), layout="constrained")
    for place, (station, work) in enumerate(zip(_STATIONS, _WORK, strict=True)):
        question = place == len(_STATIONS) - 1
        _station(ax, place, 0.0, station, MARKED if question else PLAIN)
        ax.text(place, -0.5, work, ha="center", va="top", fontsize=9)
        if place:
            _arrow(ax, (place - 0.67, 0.0), (place - 0.42, 0.0))
    last = len(_STATIONS) - 1
    ax.plot([last, last, 0], [0.34, 0.95, 0.95], color=INK, linewidth=1.4)
    _arrow(ax, (0, 0.97), (0, 0.32))
    ax.text(last / 2, 1.02, "no: read the longer prefix", ha="center", va="bottom", fontsize=9)
    _arrow(ax, (last, -0.34), (last, -1.0))
    ax.text(
        last - 0.32,
        -1.3,
        "yes: end token selected,\nor length limit reached",
        ha="right",
        va="center",
        fontsize=9,
    )
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
