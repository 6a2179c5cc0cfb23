"""The factors of the chain rule, and what they multiply to, step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from decoder_lib.generation import Step
from decoder_lib.plots.cells import INK, MARKED, PLAIN, Look, axes, frame, titled
from decoder_lib.vocabulary import Vocabulary

_LOOKS = (("o", "-", PLAIN), ("s", "--", MARKED), ("^", ":", "white"), ("D", "-.", INK))


def plot_running_product(
    runs: Mapping[str, Sequence[Step]], vocabulary: Vocabulary, title: str = "", ax: Axes | None = None
) -> Axes:
    """Up to four named runs on a logarithmic scale: small marks are a run's factors, the line their product.

    Each run has a mark and a line style of its own, and its line is named where it ends.
    """
    ax = axes(ax, 5.4, 3.9)
    longest = max((len(run) for run in runs.values()), default=0)
    shift = 0.10  # beside each other where two runs have the same factor
    sentences = []
    for number, ((name, run), (marker, line, colour)) in enumerate(zip(runs.items(), _LOOKS, strict=False)):
        factors = np.array([step.probability for step in run])  # (T,)
        products = np.exp(np.cumsum([step.log_probability for step in run]))  # (T,)
        places = np.arange(1, len(run) + 1) + shift * (number - (len(runs) - 1) / 2)
        (small,) = ax.plot(places, factors, linestyle="none", markersize=5, label=f"{name}: factor")
        (large,) = ax.plot(places, products, linestyle=line, markersize=9, label=f"{name}: product so far")
        for drawn in (small, large):
            drawn.set(marker=marker, color=INK, markerfacecolor=colour, markeredgecolor=INK)
        if len(run):
            beside: Look = {"xytext": (10, 0), "textcoords": "offset points", "fontsize": 9, "va": "center"}
            ax.annotate(f"{name}\n{products[-1]:.6f}", (places[-1], products[-1]), **beside)
        told = "; ".join(
            f"step {row}, {vocabulary.tokens[step.token_id]}, factor {factor:.4f}, product {product:.6f}"
            for row, (step, factor, product) in enumerate(zip(run, factors, products, strict=True), 1)
        )
        sentences.append(f"{name}: {told}.")
    ax.set_yscale("log")
    ax.set_xlim(0.6, longest + 1.1)
    ax.set_xticks(np.arange(1, longest + 1))
    ax.set_xlabel("step")
    ax.set_ylabel("probability (logarithmic scale)")
    ax.grid(axis="y", color="#dddddd", linewidth=0.6)
    ax.set_axisbelow(True)
    frame(ax, title)
    ax.legend(fontsize=9, loc="lower left", frameon=True)
    ax.set_label(f"Factors and running products on a logarithmic scale{titled(title)}. {' '.join(sentences)}")
    return ax
