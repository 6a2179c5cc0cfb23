"""What a truncation policy lets each pass read."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from decoder_lib.generation import Generation
from decoder_lib.plots.cells import ABSENT, FRAMED, KNOWN, NEW, axes, cell, grid, middles, numbers, titled
from decoder_lib.truncation import KeepFirst, Truncation
from decoder_lib.vocabulary import Vocabulary


def windows_of(run: Generation, truncate: Truncation, context_length: int) -> list[list[int]]:
    """For each step, the places in the whole text (prompt and all selections) of the tokens that it read.

    A run records tokens and not places, so the policy is asked again with places instead of tokens; it must
    choose by place alone. Raises ValueError if that does not give the run's own windows.
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
    """One row per step, one column per token of the whole text: read, kept first, dropped or just selected.

    `run` was made with this `truncate` and `context_length`. Each token that is read carries the position
    that it is read at; those that are kept first are framed.
    """
    windows = windows_of(run, truncate, context_length)
    n_first = truncate.n_first if isinstance(truncate, KeepFirst) else 0
    text = [vocabulary.tokens[token_id] for token_id in [*run.prompt.tolist(), *run.token_ids]]
    ax = axes(ax, min(7.0, 0.64 * len(text) + 0.7), 0.58 * len(run) + 1.0)
    for row, window in enumerate(windows):
        newest = run.prompt.size + row
        for place in range(newest):
            if place in window:
                position = window.index(place)
                cell(ax, place, row, f"{text[place]}\n{position}", FRAMED if position < n_first else KNOWN)
            else:
                cell(ax, place, row, "dropped", ABSENT)
        cell(ax, newest, row, text[newest], NEW)
    names = [f"step {row + 1}" for row in range(len(run))]
    grid(ax, len(text), max(len(run), 1), title, numbers(len(text)), middles(names))
    ax.set_xlabel("place in the whole text (in a box: the token, and the position it is read at)")
    ax.set_label(f"Windows by step{titled(title)}: {'; '.join(_words(run, windows, text))}.")
    return ax


def _words(run: Generation, windows: Sequence[Sequence[int]], text: Sequence[str]) -> list[str]:
    """One clause per step, for the text alternative."""
    clauses = []
    for number, window in enumerate(windows, 1):
        newest = run.prompt.size + number - 1
        gone = [text[place] for place in range(newest) if place not in window]
        dropped = f", with {' '.join(gone)} dropped" if gone else ""
        read = " ".join(text[place] for place in window)
        clauses.append(f"step {number} read {read}{dropped}, and selected {text[newest]}")
    return clauses
