"""A few continuations of one prompt as a tree, with the probability of every token on its edge."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes

from decoder_lib.internal.arguments import TokenIds
from decoder_lib.internal.interface import LanguageModel
from decoder_lib.plots.cells import INK, MARKED, PLAIN, Look, axes, titled
from decoder_lib.scoring import token_log_probabilities
from decoder_lib.vocabulary import Vocabulary

_LINES = ("-", "--", ":", "-.")


def plot_paths(
    model: LanguageModel,
    prompt: TokenIds,
    paths: Mapping[str, TokenIds],
    vocabulary: Vocabulary,
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Up to four named continuations, one above the other; what they share is drawn once, in heavy grey.

    Each edge carries the token's probability after its prefix, each token the product so far, and each path
    its name. Where a path parts from the others, it goes on in a line style of its own.
    """
    columns = 1 + max((len(path) for path in paths.values()), default=0)
    ax = axes(ax, min(7.0, 1.0 * columns + 1.2), 1.25 * len(paths) + 0.7)
    rows: dict[tuple[int, ...], list[int]] = {}  # a prefix of a path -> the paths that go through it
    for row, path in enumerate(paths.values()):
        ids = tuple(int(token_id) for token_id in path)
        for length in range(len(ids) + 1):
            rows.setdefault(ids[:length], []).append(row)
    heights = {prefix: float(np.mean(through)) for prefix, through in rows.items()}
    box = {"boxstyle": "round,pad=0.35", "edgecolor": INK}

    sentences = []
    for row, (name, path) in enumerate(paths.items()):
        ids = tuple(int(token_id) for token_id in path)
        scores = token_log_probabilities(model, prompt, ids)  # (T,)
        shares, products = np.exp(scores), np.exp(np.cumsum(scores))
        for length, (share, product) in enumerate(zip(shares, products, strict=True), 1):
            here, before = ids[:length], ids[: length - 1]
            if rows[here][0] != row:
                continue  # drawn with the first path that goes through it
            shared = len(rows[here]) > 1
            xs, ys = (length - 1, length), (heights[before], heights[here])
            alone: Look = {"color": INK, "linewidth": 1.8, "linestyle": _LINES[row % len(_LINES)]}
            ax.plot(xs, ys, zorder=1, **({"color": "#999999", "linewidth": 4.0} if shared else alone))
            note = {"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none"}
            along = 0.5 if ys[0] == ys[1] else 0.4  # on a slope, clear of the product behind it
            x, y = length - 1 + along, ys[0] + along * (ys[1] - ys[0])
            ax.text(x, y, f"{share:.4f}", fontsize=9, ha="center", va="center", bbox=note)
            word = vocabulary.tokens[ids[length - 1]]
            face = {"facecolor": PLAIN if shared or row == 0 else MARKED}
            ax.text(length, heights[here], word, fontsize=10, ha="center", va="center", bbox=box | face)
            place = length - 0.17 if shared else length  # room for the edges that part here
            ax.text(place, heights[here] + 0.26, f"= {product:.6f}", fontsize=9, ha="center", va="center")
        ax.text(len(ids), row - 0.27, name, fontsize=10, weight="bold", ha="center", va="center")
        steps = ", ".join(f"{vocabulary.tokens[i]} {share:.4f}" for i, share in zip(ids, shares, strict=True))
        sentences.append(f"{name}: {steps}; product {products[-1] if len(ids) else 1.0:.6f}.")

    words = vocabulary.decode([int(token_id) for token_id in prompt])
    root = "\n".join(words.split())
    start = box | {"facecolor": "white"}
    ax.text(0, heights.get((), 0.0), root, fontsize=10, ha="center", va="center", bbox=start)
    ax.set_xlim(-0.45, columns - 0.45)
    ax.set_ylim(len(paths) - 0.55, -0.5)
    ax.set_axis_off()
    ax.set_title(title, fontsize=10, loc="left")
    ax.set_label(f"A tree of continuations of {words}{titled(title)}. {' '.join(sentences)}")
    return ax
