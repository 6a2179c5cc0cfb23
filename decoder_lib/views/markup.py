"""The HTML that views are drawn with: escaped, accessible, and in the colours of the reader's theme."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files

STYLE = f"<style>{files('decoder_lib.views').joinpath('style.css').read_text(encoding='utf-8')}</style>"


def page(*parts: str) -> str:
    """The page that a view shows, with its style."""
    return f'{STYLE}<div class="gen">{"".join(parts)}</div>'


def paragraph(text: str) -> str:
    """A sentence or two."""
    return f"<p>{escape(text)}</p>"


def heading(text: str) -> str:
    """A heading of a part of a view. It is no heading of the document, whose outline stays as it is."""
    return f'<p class="title">{escape(text)}</p>'


def columns(*parts: str) -> str:
    """Parts side by side, one below the other where the page is narrow."""
    return f'<div class="columns">{"".join(f"<div>{part}</div>" for part in parts)}</div>'


def chips(
    tokens: Sequence[str],
    newest: int | None = None,
    label: str = "the prefix",
    given: int = 0,
    notes: Mapping[int, str] | None = None,
) -> str:
    """Tokens with their positions, in order; the newest is framed and says that it is new.

    given : how many at the start were not selected; their frames are dashed.
    notes : a word or two for some positions.
    """
    items = []
    for position, token in enumerate(tokens):
        words = [str(position), *(["new"] if position == newest else [])]
        if notes and position in notes:
            words.append(notes[position])
        kind = " class=new" if position == newest else " class=given" if position < given else ""
        items.append(f"<li{kind}><small>{escape(', '.join(words))}</small>{escape(token)}</li>")
    return f'<ol class="chips" aria-label="{escape(label)}">{"".join(items)}</ol>'


class Number(str):
    """A number that is written out already; a table aligns it to the right."""


def small(value: float) -> Number:
    """A product of probabilities: six decimals, or a power of ten where these would show too little."""
    return Number(f"{value:.6f}" if value == 0.0 or value >= 1e-4 else f"{value:.2e}")


def logarithm(value: float) -> Number:
    """With a sign that is as wide as a digit's place; minus infinity where the number was 0."""
    return Number("\u2212\u221e" if value == float("-inf") else f"{value:.4f}".replace("-", "\u2212"))


def scrolled(caption: str, head: str, body: str, foot: str = "", kind: str = "") -> str:
    """A table of rows that are HTML already, scrolled sideways where the page is narrow."""
    css = f' class="{kind}"' if kind else ""
    return (
        f'<div class="scroll" tabindex="0"><table{css}><caption>{escape(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>{foot}</table></div>"
    )


def bars(caption: str, rows: Sequence[tuple[str, float, str, bool]], more: str = "") -> str:
    """Shares as a table of tokens, numbers and bars, all of one scale.

    rows : token, share, a note, and whether the row is marked: hatched, framed and heavy.
    more : what is not shown.
    """
    largest = max((share for _, share, _, _ in rows), default=1.0)
    scale = next(limit for limit in (0.1, 0.25, 0.5, 1.0) if largest <= limit or limit == 1.0)
    body = "".join(
        f'<tr{" class=marked" if marked else ""}><th scope="row">{escape(token)}</th>'
        f'<td class="number">{share:.4f}</td>'
        f'<td class="track"><span class="bar" style="width:{100 * min(1.0, share / scale):.2f}%"></span></td>'
        f'<td class="note">{escape(note)}</td></tr>'
        for token, share, note, marked in rows
    )
    foot = f'<tfoot><tr><td colspan="4" class="quiet">{escape(more)}</td></tr></tfoot>' if more else ""
    head = (
        '<th scope="col">token</th><th scope="col" class="number">share</th>'
        f'<th scope="col">0 to {scale:g}</th><th scope="col">note</th>'
    )
    return scrolled(caption, head, body, foot, "bars")


@dataclass(frozen=True)
class Part:
    """A part of a strip from 0 to 1; it carries its words if there is room, and is hatched if marked."""

    words: str
    start: float
    end: float
    marked: bool = False


NARROW = 0.02  # of a strip's width, the least that a letter needs


def strip(alternative: str, parts: Iterable[Part], at: tuple[float, str] | None = None) -> str:
    """Parts laid end to end; `at` puts a pointer with words below one place.

    alternative : says all of it to those who cannot see it.
    """
    drawn = []
    for part in parts:
        width = part.end - part.start
        words = f"<b>{escape(part.words)}</b>" if width > NARROW * (1 + len(part.words)) else ""
        drawn.append(
            f'<span class="part{" marked" if part.marked else ""}" '
            f'style="left:{100 * part.start:.2f}%;width:{100 * width:.2f}%">{words}</span>'
        )
    pointer = ""
    if at is not None:
        place, words = at
        side = "left" if place < 0.25 else "right" if place > 0.75 else "middle"
        pointer = (
            f'<span class="pin" style="left:{100 * place:.2f}%"></span>'
            f'<span class="at {side}" style="left:{100 * place:.2f}%">{escape(words)}</span>'
        )
    kind = "strip pointed" if pointer else "strip"
    return (
        f'<div class="{kind}" role="img" aria-label="{escape(alternative)}">{"".join(drawn)}{pointer}</div>'
    )


def table(
    caption: str,
    heads: Sequence[str],
    rows: Iterable[Sequence[object]],
    marked: int | None = None,
    foot: Sequence[object] = (),
) -> str:
    """A table in which the first cell of each row is its head, and numbers are aligned to the right.

    marked : the number of a row that stands out, in weight as well as in colour.
    foot : a last row that sums up the others.
    """
    rows = list(rows)
    right = [any(len(row) > place and _is_number(row[place]) for row in rows) for place in range(len(heads))]
    right[0] = False
    head = "".join(
        f'<th scope="col"{" class=number" if number else ""}>{escape(text)}</th>' if text else "<td></td>"
        for text, number in zip(heads, right, strict=True)
    )
    body = (
        f"<tr{' class=marked' if number == marked else ''}>{_cells(row)}</tr>"
        for number, row in enumerate(rows)
    )
    return scrolled(caption, head, "".join(body), f"<tfoot><tr>{_cells(foot)}</tr></tfoot>" if foot else "")


def _cells(row: Sequence[object]) -> str:
    """The cells of a row, of which the first is its head."""
    first, *others = row
    return f'<th scope="row">{escape(str(first))}</th>{"".join(map(_cell, others))}'


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | Number) and not isinstance(value, bool)


def _cell(value: object) -> str:
    return f"<td{' class=number' if _is_number(value) else ''}>{escape(_shown(value))}</td>"


def _shown(value: object) -> str:
    return f"{value:.4f}" if isinstance(value, float) else str(value)
