"""How cards and tables look: JupyterLab's colours, so that a dark theme stays dark, and none that is needed.

Text has the colour of the page around it. A colour only repeats what a word and a sign say already.
"""

from __future__ import annotations

import re
from html import escape

# The second of each pair stands in where there is no JupyterLab; it can be told from white and from black.
GOOD = "var(--jp-success-color1, #2e8b57)"
BAD = "var(--jp-error-color1, #d9534f)"
NEUTRAL = "var(--jp-border-color1, #8a8a8a)"
LINK = "color:var(--jp-content-link-color, revert);text-decoration:underline"
MONOSPACE = "font-family:var(--jp-code-font-family, monospace);font-size:var(--jp-code-font-size, 90%)"
_CODE = re.compile(r"`([^`]+)`")


def prose(text: str) -> str:
    """Text as HTML, with `code` in backticks set as code."""
    return _CODE.sub(rf'<code style="{MONOSPACE}">\1</code>', escape(text))


def link(text: str, target: str) -> str:
    """A link to another notebook of the course."""
    return f'<a href="{escape(target)}" style="{LINK}">{escape(text)}</a>'


def panel(colour: str, attributes: str, *parts: str) -> str:
    """A part of the page with a coloured edge; a narrow screen breaks even its longest word."""
    inside = "".join(f'<div style="margin:0.3em 0">{part}</div>' for part in parts)
    return (
        f'<div {attributes} style="border-left:5px solid {colour};padding:0.1em 0.9em;margin:0.4em 0;'
        f'max-width:60em;line-height:1.5;overflow-wrap:anywhere">{inside}</div>'
    )


def sign(colour: str, character: str) -> str:
    """A sign for the eye; the word beside it says the same, so a screen reader passes it over."""
    return f'<span aria-hidden="true" style="color:{colour};font-weight:bold">{character}</span>'


def of(got: float, all_: float, unit: str) -> str:
    """An amount in words: "1 of 2 points", "1 of 1 point"."""
    return f"{got:g} of {all_:g} {unit if all_ == 1 else unit + 's'}"
