"""How names, ids and addresses are written, and when two ways of writing are the same.

Only what cannot tell two people apart is evened out: composed and decomposed letters, case, and what a
platform leaves out of a file's name. Marks stay: in many scripts they are the vowels. `loose` goes further;
what it makes equal is a likeness, which is shown to a person and decides nothing.
"""

import unicodedata

_LEFT_OUT = frozenset("&<>\"'`|:\\/")  # what Moodle leaves out of a file's name, besides control characters


def folded(text: str) -> str:
    """A text without differences of case or of Unicode composition."""
    text = unicodedata.normalize("NFC", text)
    return unicodedata.normalize("NFC", "".join(map(_folded_character, text)))


def _folded_character(character: str) -> str:
    """Simple case folding: one character for one, so that "ß" is not "ss"."""
    fold = character.casefold()
    return fold if len(fold) == 1 else character.lower()


def whole(name: str) -> str:
    """A name with all its characters, but those that Moodle leaves out or turns into a space."""
    name = unicodedata.normalize("NFC", name).replace(",", " , ")
    kept = (" " if character.isspace() or character == "_" else character for character in name)
    text = "".join(each for each in kept if each not in _LEFT_OUT and unicodedata.category(each) != "Cc")
    return folded(" ".join(text.split()))


def squeezed(name: str) -> str:
    """A name as its letters, marks and digits, which is what Canvas leaves of it in a file's name."""
    return "".join(character for character in folded(name) if unicodedata.category(character)[0] in "LMN")


def loose(name: str) -> str:
    """A name as its letters and digits without marks, styles and case: the same for names that look alike."""
    text = unicodedata.normalize("NFKD", name.replace("ı", "i")).casefold()
    return "".join(character for character in text if character.isalnum())


def mailbox(text: str) -> str:
    """What stands before the @ of an address, or the whole text."""
    return text.partition("@")[0]


def printable(text: str) -> str:
    """A text to be shown: characters that would not be seen are written as escapes."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)
