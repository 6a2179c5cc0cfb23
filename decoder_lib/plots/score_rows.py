"""The rows of scores that one forward pass returns, and which of them predicts."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from decoder_lib.plots.style import INK, titled
from decoder_lib.vocabulary import Vocabulary

QUIET, PREDICTS = "#eef2f6", "#f6d9a8"


def plot_score_rows(
    scores: NDArray[np.float64],
    token_ids: Sequence[int],
    vocabulary: Vocabulary,
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """The scores (T, V) of a pass over `token_ids` (T,): a row a position, a column a candidate.

    In every row but the last, the token that the prefix already holds next stands in a box. The last row,
    the one that predicts, stands in a heavy frame.
    """
    count, n_vocab = scores.shape
    if ax is None:
        _, ax = plt.subplots(
            figsize=(min(7.0, 0.5 * n_vocab + 1.5), 0.55 * count + 0.7), layout="constrained"
        )
    labels = []
    for row in range(count):
        last = row == count - 1
        following = None if last else token_ids[row + 1]
        for token_id, score in enumerate(scores[row]):
            known = token_id == following
            face = PREDICTS if last else QUIET
            box = Rectangle((token_id, row), 1, 1, facecolor=face, edgecolor="white", linewidth=1.0)
            ax.add_patch(box)
            text = ax.text(token_id + 0.5, row + 0.5, f"{score:.2f}", ha="center", va="center", fontsize=9)
            if known:
                text.set(weight="bold", bbox={"facecolor": "white", "edgecolor": INK, "pad": 2.5})
        already = "nothing yet" if following is None else vocabulary.tokens[following]
        labels.append(f"{vocabulary.decode(token_ids[: row + 1])}\nnext: {already}")
    frame = Rectangle((0, count - 1), n_vocab, 1, fill=False, edgecolor=INK, linewidth=2.4, clip_on=False)
    ax.add_patch(frame)
    ax.set_xlim(0, n_vocab)
    ax.set_ylim(count, 0)
    ax.set_xticks(np.arange(n_vocab) + 0.5, vocabulary.tokens)
    ax.xaxis.tick_top()
    ax.set_yticks(np.arange(count) + 0.5, labels)
    ax.tick_params(length=0, labelsize=9)
    ax.set_title(title, fontsize=10, loc="left")
    ax.spines[:].set_visible(False)
    ax.set_label(f"Grid of scores{titled(title)}. {_in_words(scores, token_ids, vocabulary)}")
    return ax


def _in_words(scores: NDArray[np.float64], token_ids: Sequence[int], vocabulary: Vocabulary) -> str:
    """Every row of scores and what it is good for, for a reader who cannot see them."""
    sentences = []
    for row, line in enumerate(scores):
        values = ", ".join(
            f"{token} {score:.2f}" for token, score in zip(vocabulary.tokens, line, strict=True)
        )
        last = row == len(scores) - 1
        use = (
            "The last row, in a heavy frame: the token that follows is still open."
            if last
            else f"The prefix already holds the token that follows, {vocabulary.tokens[token_ids[row + 1]]}."
        )
        sentences.append(f"After {vocabulary.decode(token_ids[: row + 1])}: {values}. {use}")
    return " ".join(sentences)
