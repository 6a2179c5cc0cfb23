"""How counts grow with the length of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from decoder_lib.plots.style import INK, titled

_STYLES = (("-", "o"), ("--", "s"), (":", "^"), ("-.", "D"))


def plot_growth(
    new_tokens: Sequence[int],
    counts: Mapping[str, Sequence[int]],
    title: str = "",
    ylabel: str = "positions computed",
    ax: Axes | None = None,
) -> Axes:
    """Curves of `counts` over `new_tokens`, told apart by dash and marker and named at their right ends."""
    if ax is None:
        _, ax = plt.subplots(figsize=(5.4, 3.2), layout="constrained")
    every = max(1, len(new_tokens) // 8)
    for (name, values), (dash, marker) in zip(counts.items(), _STYLES, strict=False):
        ax.plot(
            new_tokens, values, dash, marker=marker, markevery=every, color=INK, linewidth=1.4, markersize=5
        )
        ax.annotate(
            f"{name}: {values[-1]:,}",
            (new_tokens[-1], values[-1]),
            xytext=(7, 0),
            textcoords="offset points",
            va="center",
            fontsize=9,
            annotation_clip=False,
        )
    ax.set_xlabel("new tokens", fontsize=9)
    ax.set_ylabel(ylabel, fontsize=9)
    ax.set_title(title, fontsize=10, loc="left")
    ax.tick_params(labelsize=9)
    ax.spines[["top", "right"]].set_visible(False)
    curves = (f"{name} from {values[0]:,} to {values[-1]:,}" for name, values in counts.items())
    ax.set_label(
        f"Curves of {ylabel}{titled(title)}, from {new_tokens[0]} to {new_tokens[-1]} new tokens: "
        f"{'; '.join(curves)}."
    )
    return ax
