"""The pictures of the course, as plain matplotlib functions that draw on Axes and return them.

Nothing is told by colour alone: what is marked carries a hatch, a heavy frame or a word as well.
"""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from decoder_lib.generation import Step
from decoder_lib.vocabulary import Vocabulary

PLAIN, MARKED, INK = "#b9cbdd", "#e8a33d", "#222222"


def plot_distribution(
    distribution: NDArray[np.float64],
    vocabulary: Vocabulary,
    selected: int | None = None,
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Bars of a next-token distribution (V,), the selected token hatched and named.

    Vocabulary entries stand in ascending id order from the top.
    """
    if ax is None:
        _, ax = plt.subplots(figsize=(5.0, 0.34 * len(vocabulary) + 0.7), layout="constrained")
    places = np.arange(len(vocabulary))
    bars = ax.barh(places, distribution, color=PLAIN, edgecolor=INK, linewidth=0.6)
    for token_id, share in enumerate(distribution):
        note = f"{share:.4f}" + ("  selected" if token_id == selected else "")
        ax.text(share + 0.005, token_id, note, va="center", fontsize=9)
    if selected is not None:
        bars[selected].set(facecolor=MARKED, hatch="//", linewidth=1.4)
    ax.set_yticks(places, vocabulary.tokens)
    ax.invert_yaxis()
    ax.set_xlim(0.0, max(0.25, 1.35 * float(np.max(distribution))))
    ax.set_xlabel("probability")
    ax.set_title(title, fontsize=10, loc="left")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def plot_prefixes(
    steps: Sequence[Step], vocabulary: Vocabulary, title: str = "", ax: Axes | None = None
) -> Axes:
    """A row a pass: the prefix it read as numbered boxes, and the token that it selected in a heavy frame."""
    longest = max((len(step.context) for step in steps), default=0) + 1
    if ax is None:
        _, ax = plt.subplots(figsize=(0.9 * longest + 0.8, 0.5 * len(steps) + 0.9), layout="constrained")
    for row, step in enumerate(steps):
        for position, token_id in enumerate([*step.context.tolist(), step.token_id]):
            new = position == len(step.context)
            box = Rectangle(
                (position + 0.04, row + 0.12),
                0.92,
                0.76,
                facecolor=MARKED if new else PLAIN,
                edgecolor=INK,
                linewidth=2.0 if new else 0.6,
                hatch="//" if new else None,
            )
            ax.add_patch(box)
            label = ax.text(
                position + 0.5, row + 0.5, vocabulary.tokens[token_id], ha="center", va="center", fontsize=9
            )
            if new:
                label.set(weight="bold", bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0})
    ax.set_xlim(0, longest)
    ax.set_ylim(len(steps), 0)
    ax.set_xticks(np.arange(longest) + 0.5, [str(position + 1) for position in range(longest)])
    ax.set_yticks(np.arange(len(steps)) + 0.5, [f"step {row + 1}" for row in range(len(steps))])
    ax.set_xlabel("position (the framed, hatched token is the one just selected)")
    ax.set_title(title, fontsize=10, loc="left")
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    return ax
