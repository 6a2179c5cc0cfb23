"""A next-token distribution as bars."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from decoder_lib.internal.arguments import check_integer
from decoder_lib.plots.style import INK, MARKED, PLAIN, titled
from decoder_lib.vocabulary import Vocabulary


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
    if len(distribution) != len(vocabulary):
        raise ValueError(
            f"distribution has {len(distribution)} shares; this vocabulary has {len(vocabulary)} entries"
        )
    if selected is not None:
        check_integer("selected", selected, 0, len(vocabulary) - 1)
    if ax is None:
        _, ax = plt.subplots(figsize=(5.0, 0.34 * len(vocabulary) + 0.7), layout="constrained")
    limit = max(0.25, 1.35 * float(np.max(distribution)))
    places = np.arange(len(vocabulary))
    bars = ax.barh(places, distribution, color=PLAIN, edgecolor=INK, linewidth=0.6)
    for token_id, share in enumerate(distribution):
        note = f"{share:.4f}" + ("  selected" if token_id == selected else "")
        ax.text(share + 0.012 * limit, token_id, note, va="center", fontsize=9)
    if selected is not None:
        bars[selected].set(facecolor=MARKED, hatch="//", linewidth=1.4)
    ax.set_yticks(places, vocabulary.tokens)
    ax.invert_yaxis()
    ax.set_xlim(0.0, limit)
    ax.set_xlabel("probability")
    ax.set_title(title, fontsize=10, loc="left")
    ax.spines[["top", "right"]].set_visible(False)
    shares = (f"{token} {share:.4f}" for token, share in zip(vocabulary.tokens, distribution, strict=True))
    chosen = "" if selected is None else f" Selected: {vocabulary.tokens[selected]}."
    ax.set_label(f"Bar chart{titled(title)}. Next-token probabilities: {', '.join(shares)}.{chosen}")
    return ax
