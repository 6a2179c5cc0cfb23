"""Makes what a student's notebook holds fit to be shown: markup that is inert, text that can be read.

The outputs were cleaned when they were graded. They are cleaned again, because these pages are opened by
others than the student.
"""

from __future__ import annotations

import re

from markupsafe import Markup, escape
from nbconvert.filters.ansi import strip_ansi
from nbconvert.filters.markdown_mistune import markdown2html_mistune

from course.grading.sanitizer import sanitized, without_controls

MOST_PROSE = 30_000  # characters
_HEADING = re.compile(r"<(/?)h[1-6](?=[ >])")


def clean_html(html: str) -> Markup | None:
    """Markup that is inert, and has no headings beside the page's own; None if it is too much to clean."""
    cleaned = sanitized(html, links=True)
    return None if cleaned is None else Markup(_HEADING.sub(r"<\1p", cleaned))


def prose_html(markdown: str) -> Markup:
    """A Markdown cell as it is read, made inert; one that is too much to clean, as its text."""
    cleaned = None
    if len(markdown) <= MOST_PROSE:
        cleaned = clean_html(markdown2html_mistune(markdown))
    return Markup("<pre>{}</pre>").format(plain(markdown[:MOST_PROSE])) if cleaned is None else cleaned


def plain(text: str) -> str:
    """Text without a terminal's colours and control characters; of a line written over, what was left."""
    text = str(strip_ansi(text)).replace("\r\n", "\n")  # type: ignore[no-untyped-call]
    text = "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
    return without_controls(text)


_CODE = re.compile(r"`([^`]+)`")


def sentence(text: str) -> Markup:
    """A sentence as HTML, with what stands in backticks set as code."""
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(plain(text)))))
