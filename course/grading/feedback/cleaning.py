"""Makes what a student's notebook holds fit to be shown: markup that is inert, text that can be read.

The outputs were cleaned when they were graded. They are cleaned again, because these pages are opened by
others than the student; what many notebooks have in common is cleaned once.
"""

from __future__ import annotations

import re
from functools import lru_cache

import bleach
from bleach.css_sanitizer import CSSSanitizer
from markupsafe import Markup, escape
from nbconvert.filters.ansi import strip_ansi
from nbconvert.filters.markdown_mistune import markdown2html_mistune

from course.text import ODD

MOST_HTML = 300_000  # characters
MOST_PROSE = 30_000
MOST_TAGS = 4_000  # cleaning takes time with the square of how deep they nest
_HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}
_TABLES = {"caption", "col", "colgroup", "table", "tbody", "td", "tfoot", "th", "thead", "tr"}
_BLOCKS = {"blockquote", "br", "dd", "div", "dl", "dt", "hr", "li", "ol", "p", "pre", "ul"}
_WORDS = {"a", "abbr", "b", "code", "del", "em", "i", "kbd", "s", "samp", "small", "span", "strong", "sub"}
_TAGS = frozenset(_HEADINGS | _TABLES | _BLOCKS | _WORDS | {"img", "sup", "u"})
_PROPERTIES = ("text-align", "font-weight", "font-style", "white-space", "padding-left", "vertical-align")
_PICTURE = re.compile(r"data:image/(png|jpeg|gif);base64,[A-Za-z0-9+/=\s]*\Z")
_HEADING = re.compile(r"<(/?)h[1-6]>")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def _allowed(tag: str, name: str, value: str) -> bool:
    if tag == "img":
        return name in ("alt", "width", "height") or (name == "src" and bool(_PICTURE.match(value)))
    if tag == "a":
        return name == "href" and value.startswith(("https://", "http://", "mailto:"))
    if tag in ("td", "th"):
        return name in ("colspan", "rowspan", "scope", "style")
    return name in ("style", "title")


_CLEANER = bleach.sanitizer.Cleaner(
    tags=_TAGS,
    attributes=_allowed,
    protocols=["http", "https", "mailto", "data"],
    css_sanitizer=CSSSanitizer(allowed_css_properties=_PROPERTIES),
    strip=True,
    strip_comments=True,
)


@lru_cache(maxsize=256)
def clean_html(html: str) -> Markup | None:
    """Markup without scripts, foreign addresses and layout of its own; None if it is too much to clean."""
    if len(html) > MOST_HTML or html.count("<") > MOST_TAGS:
        return None
    cleaned = _CLEANER.clean(without_controls(html))
    # A heading inside a notebook is none of the page around it.
    return Markup(_HEADING.sub(lambda tag: f"<{tag[1]}p>", cleaned))


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


def without_controls(text: str) -> str:
    """Text as HTML can hold it: control characters and halves of surrogate pairs are U+FFFD."""
    return _CONTROL.sub(ODD, text)


_CODE = re.compile(r"`([^`]+)`")


def sentence(text: str) -> Markup:
    """A sentence as HTML, with what stands in backticks set as code."""
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(plain(text)))))
