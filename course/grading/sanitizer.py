"""Makes HTML of students inert: the one place that decides what of it may be shown, and where.

What is left is opened in the browser of whoever grades. It holds words, tables and pictures, and no script,
no style sheet, no form, nothing that is fetched, and nothing that lies over the rest of the page.
"""

import base64
import binascii
import re

import nh3

from course.text import ODD

LONGEST_HTML = 300_000  # characters, without the pictures
MOST_TAGS = 5_000  # reading takes time with the square of how deep they nest
LARGEST_PICTURE = 4_000_000  # bytes
WIDEST_PICTURE = 20_000  # pixels

_TAGS = frozenset(
    [
        *(
            "abbr",
            "b",
            "blockquote",
            "br",
            "caption",
            "code",
            "col",
            "colgroup",
            "dd",
            "del",
            "div",
            "dl",
            "dt",
        ),
        *(
            "dt",
            "em",
            "figcaption",
            "figure",
            "h1",
            "h2",
            "h3",
            "h4",
            "h5",
            "h6",
            "hr",
            "i",
            "img",
            "kbd",
            "li",
        ),
        *("mark", "ol", "p", "pre", "s", "samp", "small", "span", "strong", "sub", "sup", "table", "tbody"),
        *("td", "tfoot", "th", "thead", "tr", "u", "ul", "var"),
    ]
)
_ATTRIBUTES = {
    "*": {"border", "colspan", "height", "role", "rowspan", "scope", "style", "title", "width"},
    "img": {"alt", "src"},
}
_PROPERTIES = {
    *("background-color", "border", "border-bottom", "border-collapse", "border-color", "border-left"),
    *("border-radius", "border-right", "border-spacing", "border-style", "border-top", "border-width"),
    *("color", "font-family", "font-size", "font-style", "font-variant-numeric", "font-weight"),
    *("height", "line-height", "max-width", "min-width", "opacity", "padding", "padding-bottom"),
    *("padding-left", "padding-right", "padding-top", "text-align", "text-decoration", "vertical-align"),
    *("white-space", "width"),
}
# What these hold is not text to read.
_UNREAD = {
    *("iframe", "math", "noembed", "noframes", "noscript", "script", "style", "svg", "template", "textarea"),
    *("title", "xmp"),
}
_PICTURE = re.compile(r"data:(image/(?:png|jpeg|gif));base64,([A-Za-z0-9+/=\s]+)")
_ADDRESS = re.compile(r"url|image|src|expression|//|[@\\]", re.IGNORECASE)
_LINK = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
# In each paragraph a parser opens again those of these that are still open, at most three of a kind that are
# alike: with attributes that differ, 50 kB become 100 MB. None of them needs an attribute.
_REPEATED = re.compile(
    r"<(b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)(?=[\s/>])[^<>]*>?", re.IGNORECASE
)


def sanitized(html: str, *, links: bool = False) -> str | None:
    """HTML without anything active; None if it is more than anyone would write.

    links : whether addresses that a reader may follow stay: in prose, and not in what a program displayed.
    """
    words = without_pictures(html)
    if len(words) > LONGEST_HTML or words.count("<") > MOST_TAGS:
        return None
    html = without_controls(html.replace("\r\n", "\n"))
    return (_WITH_LINKS if links else _WITHOUT_LINKS).clean(_REPEATED.sub(r"<\1>", html))


def without_pictures(html: str) -> str:
    """HTML without the data of the pictures in it: what of it takes time to read."""
    return _PICTURE.sub("", html)


def without_controls(text: str) -> str:
    """Text as HTML can hold it: control characters and halves of surrogate pairs are U+FFFD."""
    return _CONTROL.sub(ODD, text)


def picture(kind: str, text: str) -> str:
    """A picture in base64, if it is one of its kind and of a sensible size; else nothing."""
    try:
        data = base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return ""
    is_one = _IS_ONE.get(kind)
    if is_one is None or len(data) > LARGEST_PICTURE or not is_one(data):
        return ""
    return base64.b64encode(data).decode()


def _is_png(data: bytes) -> bool:
    sizes = int.from_bytes(data[16:20]), int.from_bytes(data[20:24])
    whole = data[:8] == b"\x89PNG\r\n\x1a\n" and data[12:16] == b"IHDR" and b"IEND" in data[-12:]
    return whole and all(0 < size <= WIDEST_PICTURE for size in sizes)


def _is_jpeg(data: bytes) -> bool:
    return data[:3] == b"\xff\xd8\xff" and data.rstrip(b"\0")[-2:] == b"\xff\xd9"


def _is_gif(data: bytes) -> bool:
    sizes = int.from_bytes(data[6:8], "little"), int.from_bytes(data[8:10], "little")
    return data[:6] in (b"GIF87a", b"GIF89a") and all(0 < size <= WIDEST_PICTURE for size in sizes)


_IS_ONE = {"image/png": _is_png, "image/jpeg": _is_jpeg, "image/gif": _is_gif}


def _kept(tag: str, name: str, value: str) -> str | None:
    """What stays of an attribute's value; None for nothing."""
    if name == "src":
        found = _PICTURE.fullmatch(value)
        return value if found and picture(found[1], found[2]) else None
    if name == "href":
        return value if _LINK.match(value) else None
    return None if name == "style" and _ADDRESS.search(value) else value


def _cleaner(*, links: bool) -> nh3.Cleaner:
    return nh3.Cleaner(
        tags=_TAGS | {"a"} if links else _TAGS,
        clean_content_tags=_UNREAD,
        attributes=_ATTRIBUTES | {"a": {"href"}} if links else _ATTRIBUTES,
        attribute_filter=_kept,
        generic_attribute_prefixes={"aria-"},
        url_schemes={"data", "http", "https", "mailto"} if links else {"data"},
        filter_style_properties=_PROPERTIES,
    )


_WITH_LINKS, _WITHOUT_LINKS = _cleaner(links=True), _cleaner(links=False)
