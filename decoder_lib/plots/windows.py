"""What a truncation policy lets each pass read."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from decoder_lib.generation import Generation
from decoder_lib.plots.style import INK, MARKED, PLAIN, titled
from decoder_lib.truncation import KeepFirst, Truncation
from decoder_lib.vocabulary import Vocabulary


def windows_of(run: Generation, truncate: Truncation, context_length: int) -> list[list[int]]:
    """For each step, the places in the whole text (prompt and all selections) of the tokens that it read.

    The policy is replayed on places instead of tokens, so it must choose by place alone. Raises ValueError
    where the replay does not give the run's own windows.
    """
    text = [*run.prompt.tolist(), *run.token_ids]
    window = list(range(run.prompt.size))
    windows: list[list[int]] = []
    for step in run:
        if len(window) >= context_length:
            window = truncate(window, context_length) or []
        if [text[place] for place in window] != step.context.tolist():
            raise ValueError(
                f"step {len(windows) + 1} read {step.context.tolist()}, which this policy with a bound of "
                f"{context_length} does not give; pass the policy and the bound that the run was made with"
            )
        windows.append(window)
        window = [*window, run.prompt.size + len(windows) - 1]
    return windows


def plot_windows(
    run: Generation,
    truncate: Truncation,
    context_length: int,
    vocabulary: Vocabulary,
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """A row a step, a column a token of the whole text: read, kept first (framed), dropped, or just selected.

    `run` was made with this `truncate` and `context_length`. Each token that is read carries the position
    that it is read at.
    """
    windows = windows_of(run, truncate, context_length)
    n_first = truncate.n_first if isinstance(truncate, KeepFirst) else 0
    text = [vocabulary.tokens[token_id] for token_id in [*run.prompt.tolist(), *run.token_ids]]
    if ax is None:
        size = (min(7.0, 0.64 * len(text) + 0.7), 0.58 * len(run) + 1.0)
        _, ax = plt.subplots(figsize=size, layout="constrained")
    for row, window in enumerate(windows):
        newest = run.prompt.size + row
        for place in range(newest):
            if place in window:
                position = window.index(place)
                _cell(ax, place, row, f"{text[place]}\n{position}", "first" if position < n_first else "read")
            else:
                _cell(ax, place, row, "dropped", "dropped")
        _cell(ax, newest, row, text[newest], "selected")
    ax.set_xlim(0, len(text))
    ax.set_ylim(max(len(run), 1), 0)
    ax.set_xticks(np.arange(len(text)) + 0.5, [str(place) for place in range(len(text))])
    ax.set_yticks(np.arange(len(run)) + 0.5, [f"step {row + 1}" for row in range(len(run))])
    ax.set_xlabel("place in the whole text (in a box: the token, and the position it is read at)")
    ax.set_title(title, fontsize=10, loc="left")
    ax.tick_params(length=0, labelsize=9)
    ax.spines[:].set_visible(False)
    ax.set_label(f"Windows by step{titled(title)}: {'; '.join(_words(run, windows, text))}.")
    return ax


def _cell(ax: Axes, place: int, row: int, text: str, kind: str) -> None:
    """One box; `kind` is "read", "first", "dropped" or "selected"."""
    dropped, selected = kind == "dropped", kind == "selected"
    box = Rectangle(
        (place + 0.03, row + 0.1),
        0.94,
        0.8,
        facecolor="white" if dropped else MARKED if selected else PLAIN,
        edgecolor=INK,
        linewidth=2.2 if kind == "first" else 1.4 if selected else 0.6,
        linestyle=":" if dropped else "-",
        hatch="//" if selected else None,
    )
    ax.add_patch(box)
    label = ax.text(place + 0.5, row + 0.5, text, ha="center", va="center", fontsize=9)
    if selected:
        label.set(weight="bold", bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0})


def _words(run: Generation, windows: Sequence[Sequence[int]], text: Sequence[str]) -> list[str]:
    """A clause a step, for the text alternative."""
    clauses = []
    for number, window in enumerate(windows, 1):
        newest = run.prompt.size + number - 1
        gone = [text[place] for place in range(newest) if place not in window]
        dropped = f", with {' '.join(gone)} dropped" if gone else ""
        read = " ".join(text[place] for place in window)
        clauses.append(f"step {number} read {read}{dropped}, and selected {text[newest]}")
    return clauses
