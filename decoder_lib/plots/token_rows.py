"""Rows of tokens in boxes: a prefix, its candidates, the same prefix one token later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from decoder_lib.plots.style import INK, MARKED, PLAIN, titled

OPEN = "?"  # a place that no token has been selected for yet


def plot_token_rows(
    rows: Mapping[str, Sequence[str]],
    marked: Mapping[str, int] | None = None,
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """A labelled row of boxes for each entry of `rows`, one box a token.

    marked : the box to hatch and frame in a row, counted from 0, by the row's label.
    A token "?" is drawn as an open place, with a dashed frame.
    """
    marks = dict(marked or {})
    longest = max((len(tokens) for tokens in rows.values()), default=1)
    if ax is None:
        size = (min(6.4, max(3.8, 0.85 * longest + 1.5)), 0.5 * len(rows) + 0.4)
        _, ax = plt.subplots(figsize=size, layout="constrained")
    for row, (label, tokens) in enumerate(rows.items()):
        for place, token in enumerate(tokens):
            _draw_box(ax, place, row, token, place == marks.get(label))
    ax.set_xlim(0, longest)
    ax.set_ylim(len(rows), 0)
    ax.set_xticks([])
    ax.set_yticks(np.arange(len(rows)) + 0.5, list(rows))
    ax.tick_params(length=0)
    ax.set_title(title, fontsize=10, loc="left")
    ax.spines[:].set_visible(False)
    lines = (f"{label}: {_in_words(tokens, marks.get(label))}" for label, tokens in rows.items())
    ax.set_label(f"Rows of tokens{titled(title)}. {'; '.join(lines)}.")
    return ax


def _draw_box(ax: Axes, place: int, row: int, token: str, is_marked: bool) -> None:
    is_open = token == OPEN
    box = Rectangle(
        (place + 0.04, row + 0.12),
        0.92,
        0.76,
        facecolor="white" if is_open else MARKED if is_marked else PLAIN,
        edgecolor=INK,
        linewidth=2.0 if is_marked else 0.9,
        linestyle="--" if is_open else "-",
        hatch="//" if is_marked and not is_open else None,
    )
    ax.add_patch(box)
    label = ax.text(place + 0.5, row + 0.5, token, ha="center", va="center", fontsize=10)
    if is_marked:
        label.set(weight="bold", bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0})


def _in_words(tokens: Sequence[str], mark: int | None) -> str:
    """The boxes of one row, for a reader who cannot see them."""
    return ", ".join(
        "an open place" if token == OPEN else f"{token} (marked)" if place == mark else token
        for place, token in enumerate(tokens)
    )
