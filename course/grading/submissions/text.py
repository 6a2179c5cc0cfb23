"""Makes text from outside fit for a terminal, a file and a page."""

from unicodedata import category

_ODD = "\N{REPLACEMENT CHARACTER}"
_KEPT = "\n\t\r\b\x1b"  # a terminal's, which a notebook shows as well


def readable(text: str, most: int) -> str:
    """Text without escape sequences and halves of characters, cut where it gets long."""
    shown = text[:most].expandtabs(4)
    shown = "".join(_ODD if category(c)[0] == "C" and c != "\n" else c for c in shown)
    return shown if len(text) <= most else shown + " ..."


def printable(text: str, most: int) -> str:
    """What a program printed, with its colours, but fit to be written down; cut where it gets long."""
    shown = text[:most].encode("utf-8", "replace").decode()
    shown = "".join(_ODD if c < " " and c not in _KEPT else c for c in shown)
    return shown if len(text) <= most else shown + "\n[What followed was left out.]\n"
