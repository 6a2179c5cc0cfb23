"""Measurements with the curves fitted to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray

from decoder_lib.plots.style import INK, MARKED, titled


def plot_fits(
    x: Sequence[int] | NDArray[np.integer],
    measured: Mapping[str, tuple[ArrayLike, ArrayLike]],
    title: str = "",
    xlabel: str = "positions",
    ylabel: str = "milliseconds",
) -> Axes:
    """Points over `x` with a curve fitted to them, a panel each; returns the first Axes.

    measured : a name, and the coefficients of a polynomial beside the values it was fitted to, the highest
        power first, as `np.polyfit` gives them.

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
        ax.set_title(name, fontsize=10, loc="left")
        ax.set_xlabel(xlabel, fontsize=9)
        ax.set_ylabel(ylabel, fontsize=9)
        ax.tick_params(labelsize=9)
        ax.spines[["top", "right"]].set_visible(False)
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
