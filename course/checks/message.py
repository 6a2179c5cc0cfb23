"""What a check tells a student, in parts: they stay apart until somebody reads them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from course.text import lines

_LABELS = ("Smallest case", "the model", "expected", "got")  # of a case, in their order
_SECTION, _NOTE = "Read again", "Note"


@dataclass(frozen=True)
class Message:
    """What went wrong. `str` gives all of it as text; an empty message is false.

    sentence : what went wrong, in lines where it is laid out in lines.
    case : label and text of each line about the smallest case that showed it.
    section : what to read again, or "".
    note : what else the reader must know, or "".
    """

    sentence: str = ""
    case: tuple[tuple[str, str], ...] = ()
    section: str = ""
    note: str = ""

    @property
    def in_a_line(self) -> str:
        """The sentence without the line breaks of its layout."""
        return " ".join(lines(self.sentence))

    @property
    def labelled(self) -> tuple[tuple[str, str], ...]:
        """Label and text of each line below the sentence."""
        rows = (*self.case, (_SECTION, self.section), (_NOTE, self.note))
        return tuple((label, text) for label, text in rows if text)

    def __str__(self) -> str:
        return "\n".join([self.sentence, *(f"{label + ':':<14} {text}" for label, text in self.labelled)])

    def __bool__(self) -> bool:
        return self != NO_MESSAGE

    def each(self, change: Callable[[str], str]) -> Message:
        """The same message with each of its texts changed; the labels are ours and stay."""
        case = tuple((label, change(text)) for label, text in self.case)
        return Message(change(self.sentence), case, change(self.section), change(self.note))

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any] | str) -> Message:
        """A message from what `asdict` made of it, or from the text that older journals hold."""
        if isinstance(plain, str):
            return _from_text(plain)
        return cls(**{**plain, "case": tuple((label, text) for label, text in plain["case"])})


NO_MESSAGE = Message()


def _from_text(text: str) -> Message:
    """The parts of a text; whatever has no label belongs to what stands before it."""
    current: list[str] = []
    parts = {"": current}
    ahead = [*_LABELS, _SECTION]
    for line in lines(text):
        label = next((label for label in ahead if line.startswith(f"{label + ':':<14} ")), None)
        if label:
            # A label further back may be part of what a student's function printed or returned.
            ahead = ahead[ahead.index(label) + 1 :]
            current = parts[label] = []
            line = line[15:]
        current.append(line)
    texts = {label: "\n".join(found) for label, found in parts.items()}
    sentence, section = texts.pop(""), texts.pop(_SECTION, "")
    return Message(sentence, tuple(texts.items()), section)
