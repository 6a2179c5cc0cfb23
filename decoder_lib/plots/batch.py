"""What a batch selected, round by round."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from decoder_lib.generation import FinishReason
from decoder_lib.plots.cells import KNOWN, NEW, OPEN, axes, cell, grid, middles, numbers, titled

_BECAUSE = {"length": "length bound", "context": "context full"}


def plot_rounds(
    rows: Sequence[Sequence[int]],
    finish_reasons: Sequence[FinishReason],
    tokens: Sequence[str],
    ignored: Sequence[Sequence[int]] | None = None,
    row_labels: Sequence[str] | None = None,
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """B rows by rounds: each row's selected tokens, how it ended, and nothing after its end.

    rows : B lists of token ids, the end token included; `tokens[i]` is the text of id i.
    finish_reasons : B reasons; a row that ended with "stop" has its last cell framed and hatched, and any
        other row is followed by the word "truncated".
    ignored : B lists of token ids that were supplied after a row's end; their cells are dashed and say so.
    row_labels : B texts at the left; "row 0" and so on if none are given.
    """
    late = [[] for _ in rows] if ignored is None else [list(row) for row in ignored]
    labels = [f"row {b}" for b in range(len(rows))] if row_labels is None else list(row_labels)
    notes = ["" if reason == "stop" else _BECAUSE[reason] for reason in finish_reasons]
    rounds = max((len(row) + len(rest) for row, rest in zip(rows, late, strict=True)), default=0)
    longest = max((len(row) for row, note in zip(rows, notes, strict=True) if note), default=0)
    width = max(rounds, longest + (1.5 if any(notes) else 0))
    margin = 0.2 + 0.08 * max((len(line) for label in labels for line in label.split("\n")), default=0)
    ax = axes(ax, min(7.0, max(0.62 * width, 3.4) + margin), 0.58 * len(rows) + 0.9)
    for b, row in enumerate(rows):
        for t, token_id in enumerate(row):
            ends = t == len(row) - 1 and finish_reasons[b] == "stop"
            cell(ax, t, b, tokens[token_id], NEW if ends else KNOWN)
        for t, token_id in enumerate(late[b], len(row)):
            cell(ax, t, b, f"{tokens[token_id]}\nignored", OPEN)
        if notes[b]:
            ax.text(len(row) + 0.1, b + 0.5, f"truncated:\n{notes[b]}", va="center", fontsize=9)
    grid(ax, max(width, 1), max(len(rows), 1), title, numbers(rounds, first=1), middles(labels))
    ax.set_xlabel("round (framed and hatched: the end token)")
    ax.set_label(f"Rows by rounds{titled(title)}: {'; '.join(_words(rows, late, labels, notes, tokens))}.")
    return ax


def _words(
    rows: Sequence[Sequence[int]],
    late: list[list[int]],
    labels: list[str],
    notes: list[str],
    tokens: Sequence[str],
) -> list[str]:
    """One clause per row, for the text alternative."""
    clauses = []
    for row, rest, label, note in zip(rows, late, labels, notes, strict=True):
        selected = ", ".join(tokens[token_id] for token_id in row) or "nothing"
        end = f"was truncated ({note})" if note else f"finished in round {len(row)}"
        after = (
            f", after which {', '.join(tokens[token_id] for token_id in rest)} was ignored" if rest else ""
        )
        clauses.append(f"{label.replace(chr(10), ' ')}, selected {selected} and {end}{after}")
    return clauses
