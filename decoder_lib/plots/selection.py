"""One draw: the probabilities laid end to end, and the uniform number that falls on one of them."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from decoder_lib.plots.cells import INK, MARKED, PLAIN, Look, axes, frame, titled
from decoder_lib.selection import draw
from decoder_lib.vocabulary import Vocabulary

_HIT: Look = {"facecolor": MARKED, "linewidth": 2.4, "hatch": "//", "zorder": 2}
_MISSED: Look = {"facecolor": PLAIN, "linewidth": 0.8, "zorder": 1}
_NARROW = 0.085  # an interval that has no room for its token's name


def plot_draw(
    distribution: NDArray[np.float64],
    vocabulary: Vocabulary,
    uniform: float,
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """One bar from 0 to 1, split into an interval for each token (V,) by ascending id, with `uniform` on it.

    The interval that holds the number is hatched and framed; its token is the one drawn.
    """
    ax = axes(ax, 5.6, 2.1)
    drawn = draw(distribution, uniform)
    ends = np.cumsum(distribution)
    starts = ends - distribution
    line = {"arrowstyle": "-", "color": INK, "linewidth": 0.8}
    for token_id, (start, share) in enumerate(zip(starts, distribution, strict=True)):
        hit = token_id == drawn
        ax.add_patch(Rectangle((start, 0.0), share, 1.0, edgecolor=INK, **(_HIT if hit else _MISSED)))
        middle, token = start + share / 2, vocabulary.tokens[token_id]
        if share < _NARROW:
            above: Look = {"xytext": (middle, 1.28), "ha": "center", "va": "bottom", "arrowprops": line}
            ax.annotate(token, (middle, 1.0), fontsize=10, **above)
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
    crowded = np.diff(edges, prepend=-1.0) < 0.6 * _NARROW  # one line lower, clear of the label before it
    labels = ["\n" * int(low) + f"{edge:.2f}" for edge, low in zip(edges, crowded, strict=True)]
    ax.set_xticks(edges, labels)
    ax.set_xlabel("cumulative probability, in ascending id order")
    ax.tick_params(labelsize=9)
    frame(ax, title, "top", "left", "right")
    intervals = ", ".join(
        f"{token} {start:.4f} to {end:.4f}"
        for token, start, end in zip(vocabulary.tokens, starts, ends, strict=True)
    )
    ax.set_label(
        f"A bar from 0 to 1 split into one interval a token{titled(title)}: {intervals}. The uniform number "
        f"{uniform:.4f} falls in the interval of {vocabulary.tokens[drawn]}, which is the token drawn."
    )
    return ax
