"""What all pictures share: their colours, the cell with a token in it, and the frame around a drawing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

PLAIN, MARKED, INK = "#b9cbdd", "#e8a33d", "#222222"

Look = Mapping[str, Any]  # how something is drawn, as matplotlib takes it

KNOWN: Look = {"facecolor": PLAIN, "linewidth": 0.6}
NEW: Look = {"facecolor": MARKED, "linewidth": 2.0, "hatch": "//"}
FRAMED: Look = {"facecolor": PLAIN, "linewidth": 2.2}
ABSENT: Look = {"facecolor": "white", "linewidth": 0.8, "linestyle": ":"}
OPEN: Look = {"facecolor": "white", "linewidth": 0.9, "linestyle": "--"}


def cell(ax: Axes, column: float, row: float, text: str, look: Look = KNOWN, size: float = 9) -> None:
    """The cell of a grid with a text in it; the text of a heavy hatched cell is bold, on white."""
    ax.add_patch(Rectangle((column + 0.04, row + 0.1), 0.92, 0.8, edgecolor=INK, **look))
    if text:
        written = ax.text(column + 0.5, row + 0.5, text, ha="center", va="center", fontsize=size)
        if look.get("hatch"):
            written.set(weight="bold", bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0})


def legend(ax: Axes, looks: Mapping[str, Look], **where: Any) -> None:
    """The key to the looks of cells."""
    handles = [Rectangle((0, 0), 1, 1, edgecolor=INK, label=name, **look) for name, look in looks.items()]
    ax.legend(handles=handles, frameon=False, fontsize=9, handlelength=1.4, **where)


def axes(ax: Axes | None, width: float, height: float) -> Axes:
    """The Axes that were given, or those of a new figure of this size, in inches."""
    if ax is None:
        _, ax = plt.subplots(figsize=(width, height), layout="constrained")
    return ax


def frame(ax: Axes, title: str, *hidden: str) -> None:
    """The title, and the sides of the frame that are left out: top and right, if none is named."""
    ax.set_title(title, fontsize=10, loc="left")
    ax.spines[list(hidden or ("top", "right"))].set_visible(False)


def grid(
    ax: Axes, width: float, height: float, title: str, columns: Sequence[str], rows: Mapping[float, str]
) -> None:
    """The frame of a grid of cells: rows from the top, named at the left, and columns named below.

    rows : the height of each name's row, in the middle.
    """
    ax.set_xlim(0, width)
    ax.set_ylim(height, 0)
    ax.set_xticks(np.arange(len(columns)) + 0.5, columns)
    ax.set_yticks(list(rows), list(rows.values()))
    ax.tick_params(length=0, labelsize=9)
    frame(ax, title, "top", "right", "bottom", "left")


def middles(names: Sequence[str]) -> dict[float, str]:
    """The names of the rows of a grid, each in the middle of its row."""
    return {row + 0.5: name for row, name in enumerate(names)}


def numbers(count: int, first: int = 0) -> list[str]:
    """The names of columns that are counted."""
    return [str(number) for number in range(first, first + count)]


def titled(title: str) -> str:
    """The title as the words beside a picture go on with it: ", title", or nothing without one."""
    return f", {title}" if title else ""
