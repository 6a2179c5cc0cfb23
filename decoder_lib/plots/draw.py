"""One draw: the shares laid end to end, and the uniform number that fell on one of them."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from decoder_lib.plots.style import INK, MARKED, PLAIN, titled
from decoder_lib.selection import draw
from decoder_lib.vocabulary import Vocabulary

NARROW = 0.085  # a share whose interval has no room for its token's name


def plot_draw(
    distribution: NDArray[np.float64],
    vocabulary: Vocabulary,
    uniform: float,
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """One bar from 0 to 1, split into an interval a token (V,), ascending ids; `uniform` marked on it.

    The interval that holds the number is hatched and framed; the token is the one drawn.
    """
    if ax is None:
        _, ax = plt.subplots(figsize=(5.6, 2.1), layout="constrained")
    drawn = draw(distribution, uniform)
    ends = np.cumsum(distribution)
    starts = ends - distribution
    for token_id, (start, share) in enumerate(zip(starts, distribution, strict=True)):
        hit = token_id == drawn
        box = Rectangle(
            (start, 0.0),
            share,
            1.0,
            facecolor=MARKED if hit else PLAIN,
            edgecolor=INK,
            linewidth=2.4 if hit else 0.8,
            hatch="//" if hit else None,
            zorder=2 if hit else 1,
        )
        ax.add_patch(box)
        middle, token = start + share / 2, vocabulary.tokens[token_id]
        if share < NARROW:
            ax.annotate(
                token,
                xy=(middle, 1.0),
                xytext=(middle, 1.28),
                ha="center",
                va="bottom",
                fontsize=10,
                arrowprops={"arrowstyle": "-", "color": INK, "linewidth": 0.8},
            )
        else:
            label = ax.text(middle, 0.62, token, ha="center", va="center", fontsize=10, zorder=3)
            if hit:
                label.set(weight="bold", bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0})
    ax.annotate(
        f"uniform number {uniform:.4f}",
        xy=(uniform, 0.0),
        xytext=(uniform, -0.55),
        ha="left" if uniform < 0.15 else "right" if uniform > 0.85 else "center",
        va="top",
        fontsize=10,
        arrowprops={"arrowstyle": "-|>", "color": INK, "linewidth": 1.6, "shrinkA": 1, "shrinkB": 0},
        zorder=4,
    )
    ax.set_xlim(-0.005, 1.005)
    ax.set_ylim(-1.0, 1.7)
    ax.set_yticks([])
    edges = np.array([0.0, *ends[:-1], 1.0])
    crowded = (
        np.diff(edges, prepend=-1.0) < 0.6 * NARROW
    ).tolist()  # one line lower, clear of the label before it
    labels = ["\n" * low + f"{edge:.2f}" for edge, low in zip(edges, crowded, strict=True)]
    ax.set_xticks(edges, labels)
    ax.set_xlabel("cumulative probability, in ascending id order")
    ax.tick_params(labelsize=9)
    ax.set_title(title, fontsize=10, loc="left")
    ax.spines[["top", "left", "right"]].set_visible(False)
    intervals = ", ".join(
        f"{token} {start:.4f} to {end:.4f}"
        for token, start, end in zip(vocabulary.tokens, starts, ends, strict=True)
    )
    ax.set_label(
        f"A bar from 0 to 1 split into one interval a token{titled(title)}: {intervals}. The uniform number "
        f"{uniform:.4f} falls in the interval of {vocabulary.tokens[drawn]}, which is the token drawn."
    )
    return ax
