"""What the pictures share: their colours, and how a title enters the words that stand for a picture."""

PLAIN, MARKED, INK = "#b9cbdd", "#e8a33d", "#222222"


def titled(title: str) -> str:
    """ ", title" for a sentence, or nothing for a picture without one."""
    return f", {title}" if title else ""
