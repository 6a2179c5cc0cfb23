"""What a student's code displayed, made safe to show: it was made by the student's side, and can be anything.

Markdown cells are the student's as well. They stay as they are here, and are cleaned where they are rendered:
in `course.grading.feedback`, and by JupyterLab and the formgrader themselves.
"""

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Any

import bleach
from bleach.css_sanitizer import CSSSanitizer

from course.building.nodes import node
from course.text import lines, printable

MOST_OUTPUTS = 500  # of one cell
LONGEST_TEXT = 1_000_000
# Reading HTML takes more than its length in time where it was made to: pictures in it do not count.
LONGEST_HTML = 100_000
MOST_HTML = 500_000  # of one notebook
MOST_TAGS = 5_000
LARGEST_IMAGE = 4_000_000  # bytes
WIDEST_IMAGE = 20_000  # pixels
LONGEST_ALT = 2_000

_TAGS = frozenset(
    [
        *("b", "blockquote", "br", "caption", "code", "col", "colgroup", "dd", "div", "dl", "dt", "em"),
        *("figcaption", "figure", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "img", "kbd", "li", "mark"),
        *("ol", "p", "pre", "s", "small", "span", "strong", "sub", "sup", "table", "tbody", "td", "tfoot"),
        *("th", "thead", "tr", "u", "ul", "var"),
    ]
)
_ATTRIBUTES = {"alt", "border", "colspan", "height", "role", "rowspan", "scope", "style", "title", "width"}
# Nothing that takes a URL, and nothing that lets a display lie over the rest of the page.
_CSS = CSSSanitizer(
    allowed_css_properties=[
        *("background-color", "border", "border-bottom", "border-collapse", "border-color", "border-left"),
        *("border-radius", "border-right", "border-spacing", "border-style", "border-top", "border-width"),
        *("color", "font-family", "font-size", "font-style", "font-variant-numeric", "font-weight"),
        *("height", "line-height", "max-width", "min-width", "opacity", "padding", "padding-bottom"),
        *("padding-left", "padding-right", "padding-top", "text-align", "text-decoration", "vertical-align"),
        *("white-space", "width"),
    ],
    allowed_svg_properties=[],
)
# What these hold is not text to read, and bleach would show it as such.
_UNREAD = re.compile(r"<(style|script|template|title|textarea)\b.*?(</\1\s*>|\Z)", re.IGNORECASE | re.DOTALL)
_IMAGE_URL = re.compile(r"data:(image/(?:png|jpeg));base64,([A-Za-z0-9+/=\s]+)")
_ADDRESS = re.compile(r"url|image|expression|[@\\]", re.IGNORECASE)
_LEFT_OUT = "[A display of another kind was left out.]"


class Cleaner:
    """Cleans the outputs of one notebook, cell by cell."""

    def __init__(self) -> None:
        self._html_left = MOST_HTML

    def clean(self, outputs: list[Any]) -> list[Any]:
        """The outputs of a cell as a notebook's nodes: text, pictures, and tables without anything active.

        Takes anything; what is no output is left out.
        """
        cleaned = [output for raw in outputs[:MOST_OUTPUTS] for output in self._cleaned(raw)]
        more = len(outputs) - MOST_OUTPUTS
        return [*cleaned, *([text_output(f"[{more} more outputs were left out.]\n")] if more > 0 else [])]

    def _cleaned(self, raw: object) -> Iterator[Any]:
        match raw:
            case {"output_type": "stream", "name": "stdout" | "stderr" as name, "text": str(text)}:
                yield text_output(printable(text, LONGEST_TEXT), name)
            case {
                "output_type": "error",
                "ename": str(name),
                "evalue": str(message),
                "traceback": list(lines),
            }:
                yield node(
                    {
                        "output_type": "error",
                        "ename": printable(name, 200),
                        "evalue": printable(message, 10_000),
                        "traceback": [
                            printable(line, 20_000) for line in lines[:200] if isinstance(line, str)
                        ],
                    }
                )
            case {"output_type": "display_data" | "execute_result" as kind, "data": dict(data), **others}:
                shown = self._bundle(data)
                output = {"output_type": kind, "data": shown, "metadata": _alt(others.get("metadata"), shown)}
                if kind == "execute_result":
                    output["execution_count"] = None
                yield node(output)

    def _bundle(self, data: dict[Any, Any]) -> dict[str, str]:
        """What may be shown of a display's forms."""
        forms = {kind: text for kind, value in data.items() if (text := _joined(value)) is not None}
        shown: dict[str, str] = {}
        # An object's own source says more than "<IPython.core.display.Markdown object>".
        for kind in ("text/markdown", "text/latex", "text/plain"):
            if kind in forms and "text/plain" not in shown:
                shown["text/plain"] = printable(forms[kind], LONGEST_TEXT)
        if "text/html" in forms:
            length = len(_IMAGE_URL.sub("", forms["text/html"]))
            if length <= self._html_left:
                self._html_left -= length
                html = clean_html(forms["text/html"])
                shown |= {"text/html": html} if html.strip() else {}
        for kind in ("image/png", "image/jpeg"):
            if kind in forms and (picture := _image(kind, forms[kind])):
                shown[kind] = picture
        return shown or {"text/plain": _LEFT_OUT}


def text_output(text: str, stream: str = "stdout") -> Any:
    """An output of plain text."""
    return node({"output_type": "stream", "name": stream, "text": text})


def error_output(name: str, message: str) -> Any:
    """An output that shows as an error, without a line of code."""
    told = lines(message) or [""]
    return node({"output_type": "error", "ename": name, "evalue": told[0], "traceback": told})


def size_of(outputs: list[Any]) -> int:
    """About how many characters outputs take in a file."""
    return sum(len(str(output)) for output in outputs)


def _joined(value: object) -> str | None:
    """A form's text, which a notebook may keep as a list of lines."""
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        return "".join(value)
    return value if isinstance(value, str) else None


def clean_html(text: str) -> str:
    """Tables, words and pictures of some HTML; no script, no style sheet, no form, and no address.

    Nothing, if it is longer than anyone would write.
    """
    without_pictures = _IMAGE_URL.sub("", text)
    if len(without_pictures) > LONGEST_HTML or without_pictures.count("<") > MOST_TAGS:
        return ""
    text = _UNREAD.sub("", printable(text, len(text)).replace("\x1b", ""))
    try:
        cleaned: str = bleach.clean(
            text,
            tags=_TAGS,
            attributes=_may_stay,
            protocols={"data"},
            css_sanitizer=_CSS,
            strip=True,
            strip_comments=True,
        )
    except RecursionError:  # nested too deeply
        return ""
    return cleaned


def _may_stay(tag: str, name: str, value: str) -> bool:
    if tag == "img" and name == "src":
        found = _IMAGE_URL.fullmatch(value)
        return bool(found and _image(found[1], found[2]))
    if name == "style" and _ADDRESS.search(value):
        return False
    return name in _ATTRIBUTES or name.startswith("aria-")


def _image(kind: str, text: str) -> str:
    """A picture in base64, if it is one of its kind and of a sensible size; else nothing."""
    try:
        data = base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return ""
    if len(data) > LARGEST_IMAGE:
        return ""
    if kind == "image/png":
        sizes = int.from_bytes(data[16:20]), int.from_bytes(data[20:24])
        right = data[:8] == b"\x89PNG\r\n\x1a\n" and data[12:16] == b"IHDR" and b"IEND" in data[-12:]
        right = right and all(0 < size <= WIDEST_IMAGE for size in sizes)
    else:
        right = data[:3] == b"\xff\xd8\xff" and data.rstrip(b"\0")[-2:] == b"\xff\xd9"
    return base64.b64encode(data).decode() if right else ""


def _alt(metadata: object, shown: dict[str, str]) -> dict[str, Any]:
    """The text alternatives of the pictures, and nothing else of the metadata."""
    if not isinstance(metadata, dict):
        return {}
    kept: dict[str, Any] = {}
    for kind in ("image/png", "image/jpeg"):
        own = metadata.get(kind)
        alt = own.get("alt") if isinstance(own, dict) else metadata.get("alt")
        if kind in shown and isinstance(alt, str):
            kept[kind] = {"alt": printable(alt, LONGEST_ALT)}
    return kept
