"""Next-token distributions as bars, and the scores that they are made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from decoder_lib.internal.arguments import check_integer
from decoder_lib.plots.cells import INK, MARKED, PLAIN, Look, axes, frame, grid, middles, titled
from decoder_lib.vocabulary import Vocabulary

_LOOKS = ((PLAIN, ""), (MARKED, "//"), ("white", "xx"))
_QUIET, _PREDICTS = "#eef2f6", "#f6d9a8"


def plot_distribution(
    distribution: NDArray[np.float64],
    vocabulary: Vocabulary,
    selected: int | None = None,
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Bars of a next-token distribution (V,), the selected token hatched and named.

    Vocabulary entries are in ascending id order from the top.
    """
    if len(distribution) != len(vocabulary):
        raise ValueError(
            f"distribution has {len(distribution)} shares; this vocabulary has {len(vocabulary)} entries"
        )
    if selected is not None:
        check_integer("selected", selected, 0, len(vocabulary) - 1)
    ax = axes(ax, 5.0, 0.34 * len(vocabulary) + 0.7)
    limit = max(0.25, 1.35 * float(np.max(distribution)))
    bars = ax.barh(np.arange(len(vocabulary)), distribution, color=PLAIN, edgecolor=INK, linewidth=0.6)
    for token_id, share in enumerate(distribution):
        note = f"{share:.4f}" + ("  selected" if token_id == selected else "")
        ax.text(share + 0.012 * limit, token_id, note, va="center", fontsize=9)
    if selected is not None:
        bars[selected].set(facecolor=MARKED, hatch="//", linewidth=1.4)
    _tokens_down(ax, vocabulary, limit, title)
    chosen = "" if selected is None else f" Selected: {vocabulary.tokens[selected]}."
    shares = _in_words(distribution, vocabulary)
    ax.set_label(f"Bar chart{titled(title)}. Next-token probabilities: {shares}.{chosen}")
    return ax


def plot_side_by_side(
    distributions: Mapping[str, NDArray[np.float64]],
    vocabulary: Vocabulary,
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """A group of bars for each token, one bar per distribution (V,), told apart by their hatching.

    The keys are the legend. Vocabulary entries are in ascending id order from the top.
    Raises ValueError for more than three distributions.
    """
    count = len(distributions)
    if count > len(_LOOKS):
        raise ValueError(f"there are {count} distributions; side by side, at most {len(_LOOKS)} can be read")
    ax = axes(ax, 4.8, (0.18 * count + 0.12) * len(vocabulary) + 0.9 + 0.2 * count)
    largest = max((float(np.max(distribution)) for distribution in distributions.values()), default=0.0)
    limit = max(0.25, 1.2 * largest)
    places = np.arange(len(vocabulary))
    thick = 0.84 / max(count, 1)
    for n, (name, distribution) in enumerate(distributions.items()):
        colour, hatch = _LOOKS[n]
        offset = (n - (count - 1) / 2) * thick
        drawn: Look = {"label": name, "color": colour, "hatch": hatch, "edgecolor": INK, "linewidth": 0.6}
        ax.barh(places + offset, distribution, 0.94 * thick, **drawn)
        for token_id, share in enumerate(distribution):
            ax.text(share + 0.012 * limit, token_id + offset, f"{share:.4f}", va="center", fontsize=9)
    _tokens_down(ax, vocabulary, limit, title)
    if count:
        ax.get_figure(root=True).legend(loc="outside lower left", fontsize=9, frameon=False)  # type: ignore[union-attr]
    shares = (f"{name}: {_in_words(each, vocabulary)}" for name, each in distributions.items())
    ax.set_label(f"Bars side by side{titled(title)}. {'; '.join(shares)}.")
    return ax


def plot_score_rows(
    scores: NDArray[np.float64],
    token_ids: Sequence[int],
    vocabulary: Vocabulary,
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """The scores (T, V) of a pass over `token_ids` (T,): one row per position, one column per candidate.

    In every row but the last, a box marks the token that the prefix already holds next. The last row, the
    one that predicts, is in a heavy frame.
    """
    count, n_vocab = scores.shape
    ax = axes(ax, min(7.0, 0.5 * n_vocab + 1.5), 0.55 * count + 0.7)
    labels, told = [], []
    for row, line in enumerate(scores):
        last = row == count - 1
        following = None if last else token_ids[row + 1]
        for token_id, score in enumerate(line):
            face = _PREDICTS if last else _QUIET
            ax.add_patch(Rectangle((token_id, row), 1, 1, facecolor=face, edgecolor="white", linewidth=1.0))
            text = ax.text(token_id + 0.5, row + 0.5, f"{score:.2f}", ha="center", va="center", fontsize=9)
            if token_id == following:
                text.set(weight="bold", bbox={"facecolor": "white", "edgecolor": INK, "pad": 2.5})
        prefix = vocabulary.decode(token_ids[: row + 1])
        already = "nothing yet" if following is None else vocabulary.tokens[following]
        labels.append(f"{prefix}\nnext: {already}")
        use = (
            "The last row, in a heavy frame: the token that follows is still open."
            if following is None
            else f"The prefix already holds the token that follows, {already}."
        )
        told.append(f"After {prefix}: {_in_words(line, vocabulary, 2)}. {use}")
    heavy = Rectangle((0, count - 1), n_vocab, 1, fill=False, edgecolor=INK, linewidth=2.4, clip_on=False)
    ax.add_patch(heavy)
    grid(ax, n_vocab, count, title, vocabulary.tokens, middles(labels))
    ax.xaxis.tick_top()
    ax.set_label(f"Grid of scores{titled(title)}. {' '.join(told)}")
    return ax


def _tokens_down(ax: Axes, vocabulary: Vocabulary, limit: float, title: str) -> None:
    """The frame of bars that run to the right, with the tokens as names from the top down."""
    ax.set_yticks(np.arange(len(vocabulary)), vocabulary.tokens)
    ax.invert_yaxis()
    ax.set_xlim(0.0, limit)
    ax.set_xlabel("probability")
    frame(ax, title)


def _in_words(values: NDArray[np.float64], vocabulary: Vocabulary, decimals: int = 4) -> str:
    pairs = zip(vocabulary.tokens, values, strict=True)
    return ", ".join(f"{token} {value:.{decimals}f}" for token, value in pairs)
