"""Makes text from outside fit for a line, a terminal and a file; what cannot stay is replaced visibly."""

import re
import sys
from unicodedata import category

ODD = "\N{REPLACEMENT CHARACTER}"
_KEPT = "\n\t\r\b\x1b"  # a terminal's, which a notebook shows as well
# Their category is that of control characters, but the words of several scripts are written with them.
_JOINERS = "\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def lines(text: str) -> list[str]:
    """The lines of a text, split at line feeds alone.

    `str.splitlines` also splits at U+2028, U+0085 and others, which are characters like any other here.
    """
    return text.removesuffix("\n").split("\n") if text else []


def readable(text: str, most: int = sys.maxsize) -> str:
    """Text without escape sequences and halves of characters, cut where it gets long."""
    shown = text[:most].expandtabs(4)
    shown = "".join(ODD if _is_odd(character) else character for character in shown)
    return shown if len(text) <= most else shown + " ..."


def printable(text: str, most: int) -> str:
    """What a program printed, with its colours, but fit to be written down; cut where it gets long."""
    shown = text[:most].encode("utf-8", "replace").decode()
    shown = "".join(ODD if c < " " and c not in _KEPT else c for c in shown)
    return shown if len(text) <= most else shown + "\n[What followed was left out.]\n"


def storable(text: str) -> str:
    """Text as any database and any file in UTF-8 takes it: without NUL and halves of characters."""
    return _UNSTORABLE.sub(ODD, text)


def _is_odd(character: str) -> bool:
    return category(character)[0] == "C" and character != "\n" and character not in _JOINERS
