"""A check's message taken apart: the sentence, the smallest case, and what to read again."""

from __future__ import annotations

from dataclasses import dataclass

from course.text import lines

# As CheckFailure writes them, and in its order.
_LABELS = ("Smallest case", "the model", "expected", "got", "Read again")


@dataclass(frozen=True)
class Message:
    """The parts of a message.

    sentence : what went wrong.
    case : label and text of each line about the smallest case that showed it.
    section : what to read again, or "".
    """

    sentence: str
    case: tuple[tuple[str, str], ...] = ()
    section: str = ""


def take_apart(message: str) -> Message:
    """The parts of a message of `course.checks`; whatever has no label belongs to what stands before it."""
    sentence: list[str] = []
    parts: dict[str, list[str]] = {}
    ahead, current = list(_LABELS), sentence
    for line in lines(message):
        label = next((label for label in ahead if line.startswith(f"{label + ':':<14} ")), None)
        if label is None:
            current.append(line)
        else:
            # A label further back may be part of what a student's function printed or returned.
            ahead = ahead[ahead.index(label) + 1 :]
            current = parts[label] = [line[15:]]
    texts = {label: "\n".join(found) for label, found in parts.items()}
    section = texts.pop("Read again", "")
    return Message(" ".join(sentence), tuple(texts.items()), section)
