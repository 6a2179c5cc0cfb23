"""How long many runs became, and what ended each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from decoder_lib.generation import Generation
from decoder_lib.plots.style import INK, MARKED, PLAIN, titled

_ENDINGS = (("stop", "the end token", MARKED, "//"), ("length", "the length bound", PLAIN, None))
_CONTEXT = ("context", "the context bound", "white", "..")


def plot_endings(groups: Mapping[str, Sequence[Generation]], longest: int, title: str = "") -> Axes:
    """Bars of how many runs returned 0 to `longest` new tokens, a panel a group; returns the first Axes.

    The part of a bar is hatched where the end token ended the runs, plain for the length bound and dotted for
    the context bound. On each bar stand the counts of its parts, from the bottom up.
    """
    size = (5.4, 1.75 * len(groups) + 0.75)
    figure, panels = plt.subplots(
        len(groups), 1, figsize=size, sharex=True, squeeze=False, layout="constrained"
    )
    lengths = np.arange(longest + 1)
    reasons = {run.finish_reason for runs in groups.values() for run in runs}
    kinds = [kind for kind in (*_ENDINGS, _CONTEXT) if kind[0] in reasons]
    sentences = []
    for ax, (name, runs) in zip(panels[:, 0], groups.items(), strict=True):
        below = np.zeros(longest + 1, dtype=np.int64)
        told = []
        parts_of: list[list[str]] = [[] for _ in lengths]
        for reason, words, colour, hatch in kinds:
            ended = [len(run) for run in runs if run.finish_reason == reason]
            counts = np.bincount(ended, minlength=longest + 1)  # (longest + 1,)
            ax.bar(
                lengths,
                counts,
                bottom=below,
                color=colour,
                hatch=hatch,
                edgecolor=INK,
                linewidth=0.6,
                label=words,
            )
            below = below + counts
            for n in np.flatnonzero(counts).tolist():
                parts_of[n].append(str(counts[n]))
            told += [f"{counts[n]} of {n} tokens by {words}" for n in lengths if counts[n]]
        for n in np.flatnonzero(below).tolist():
            ax.text(n, below[n], " + ".join(parts_of[n]), ha="center", va="bottom", fontsize=9)
        ax.set_ylim(0, 1.2 * max(1, int(below.max())))
        ax.set_ylabel("runs")
        ax.set_title(name, fontsize=10, loc="left")
        ax.spines[["top", "right"]].set_visible(False)
        sentences.append(f"{name}: {', '.join(told)}.")
    first: Axes = panels[0, 0]
    empty = any(len(run) == 0 for runs in groups.values() for run in runs)
    panels[-1, 0].set_xlim(-0.6 if empty else 0.4, longest + 0.6)
    panels[-1, 0].set_xticks(lengths if empty else lengths[1:])
    panels[-1, 0].set_xlabel("new tokens returned")
    handles, labels = first.get_legend_handles_labels()
    figure.legend(
        handles, [f"ended by {label}" for label in labels], loc="outside lower center", ncols=2, fontsize=9
    )
    if title:
        figure.suptitle(title, fontsize=10, x=0.02, ha="left")
    first.set_label(
        f"Bar chart of how long runs became and what ended them{titled(title)}. {' '.join(sentences)}"
    )
    return first
