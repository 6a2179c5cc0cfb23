"""The prefixes that the passes of a run read."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from decoder_lib.generation import Step
from decoder_lib.plots.style import INK, MARKED, PLAIN, titled
from decoder_lib.vocabulary import Vocabulary


def plot_prefixes(
    steps: Sequence[Step], vocabulary: Vocabulary, title: str = "", ax: Axes | None = None
) -> Axes:
    """A row a pass: the prefix it read as numbered boxes, and the token that it selected in a heavy frame."""
    longest = max((len(step.context) for step in steps), default=0) + 1
    if ax is None:
        _, ax = plt.subplots(
            figsize=(max(4.6, 0.66 * longest + 0.7), 0.46 * len(steps) + 0.9), layout="constrained"
        )
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
    ax.set_ylim(max(len(steps), 1), 0)
    ax.set_xticks(np.arange(longest) + 0.5, [str(position + 1) for position in range(longest)])
    ax.set_yticks(np.arange(len(steps)) + 0.5, [f"step {row + 1}" for row in range(len(steps))])
    ax.set_xlabel("position (the framed, hatched token is the one just selected)")
    ax.set_title(title, fontsize=10, loc="left")
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    rows = (
        f"step {row} read {vocabulary.decode(step.context)} and selected {vocabulary.tokens[step.token_id]}"
        for row, step in enumerate(steps, 1)
    )
    ax.set_label(f"A staircase of growing prefixes{titled(title)}: {'; '.join(rows)}.")
    return ax
