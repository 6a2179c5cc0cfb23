"""Several distributions over one vocabulary, as bars side by side."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from decoder_lib.plots.style import INK, MARKED, PLAIN, titled
from decoder_lib.vocabulary import Vocabulary

_LOOKS = ((PLAIN, ""), (MARKED, "//"), ("white", "xx"))


def plot_side_by_side(
    distributions: Mapping[str, NDArray[np.float64]],
    vocabulary: Vocabulary,
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """A group of bars a token, a bar a distribution (V,), told apart by hatch; at most three distributions.

    The keys are the legend. Vocabulary entries stand in ascending id order from the top.
    Raises ValueError for more than three distributions.
    """
    count = len(distributions)
    if count > len(_LOOKS):
        raise ValueError(f"there are {count} distributions; side by side, at most {len(_LOOKS)} can be read")
    if ax is None:
        height = (0.18 * count + 0.12) * len(vocabulary) + 0.9 + 0.2 * count
        _, ax = plt.subplots(figsize=(4.8, height), layout="constrained")
    largest = max((float(np.max(distribution)) for distribution in distributions.values()), default=0.0)
    limit = max(0.25, 1.2 * largest)
    places = np.arange(len(vocabulary))
    thick = 0.84 / max(count, 1)
    for n, (name, distribution) in enumerate(distributions.items()):
        colour, hatch = _LOOKS[n]
        offset = (n - (count - 1) / 2) * thick
        ax.barh(
            places + offset,
            distribution,
            0.94 * thick,
            label=name,
            color=colour,
            hatch=hatch,
            edgecolor=INK,
            linewidth=0.6,
        )
        for token_id, share in enumerate(distribution):
            ax.text(share + 0.012 * limit, token_id + offset, f"{share:.4f}", va="center", fontsize=9)
    ax.set_yticks(places, vocabulary.tokens)
    ax.invert_yaxis()
    ax.set_xlim(0.0, limit)
    ax.set_xlabel("probability")
    ax.set_title(title, fontsize=10, loc="left")
    ax.spines[["top", "right"]].set_visible(False)
    if count:
        ax.get_figure(root=True).legend(loc="outside lower left", fontsize=9, frameon=False)  # type: ignore[union-attr]
    shares = (
        f"{name}: "
        + ", ".join(
            f"{token} {share:.4f}" for token, share in zip(vocabulary.tokens, distribution, strict=True)
        )
        for name, distribution in distributions.items()
    )
    ax.set_label(f"Bars side by side{titled(title)}. {'; '.join(shares)}.")
    return ax
