"""Runs and distributions as tables: HTML in a notebook, aligned text elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import NDArray

from decoder_lib.generation import Step
from decoder_lib.vocabulary import Vocabulary


@dataclass(frozen=True)
class Table:
    """A caption, a header and rows of text. It is also the text alternative of the picture beside it."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def __str__(self) -> str:
        lines = [self.header, *self.rows]
        widths = [max(len(line[column]) for line in lines) for column in range(len(self.header))]
        text = ["  ".join(map(str.ljust, line, widths)).rstrip() for line in lines]
        return "\n".join([self.caption, text[0], "-" * len(text[0]), *text[1:]])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head = "".join(_head(cell, "col", "text-align:left") for cell in self.header)
        body = "".join(
            f"<tr>{_head(first, 'row', 'text-align:left;font-weight:normal')}"
            + "".join(f'<td style="text-align:left">{escape(cell)}</td>' for cell in rest)
            + "</tr>"
            for first, *rest in self.rows
        )
        caption = f'<caption style="text-align:left">{escape(self.caption)}</caption>'
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _head(text: str, scope: str, style: str) -> str:
    """A cell that names its column or row; an empty one is an ordinary cell."""
    return f'<th scope="{scope}" style="{style}">{escape(text)}</th>' if text else "<td></td>"


def step_table(
    steps: Iterable[Step], vocabulary: Vocabulary, caption: str = "One forward pass a row"
) -> Table:
    """One row per step: the prefix that was read, the token selected after it, and its probability."""
    rows = (
        (
            str(number),
            vocabulary.decode(step.context),
            vocabulary.tokens[step.token_id],
            f"{step.probability:.4f}",
        )
        for number, step in enumerate(steps, 1)
    )
    return Table(caption, ("step", "prefix read", "selected token", "probability"), tuple(rows))


def distribution_table(
    distributions: dict[str, NDArray[np.float64] | Sequence[float]], vocabulary: Vocabulary, caption: str
) -> Table:
    """One row per vocabulary entry, one column per distribution (V,), headed by its key."""
    for name, column in distributions.items():
        if len(column) != len(vocabulary):
            raise ValueError(
                f"{name!r} has {len(column)} shares; this vocabulary has {len(vocabulary)} entries"
            )
    columns = [np.asarray(column, dtype=np.float64) for column in distributions.values()]
    rows = (
        (token, *(f"{column[token_id]:.4f}" for column in columns))
        for token_id, token in enumerate(vocabulary.tokens)
    )
    return Table(caption, ("candidate", *distributions), tuple(rows))
