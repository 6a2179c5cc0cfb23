"""The sections as the self-study notebooks have them: number, title, file, and the challenge in each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "source"
_TITLE = re.compile(r"^# (\d+)\. (.+)$", re.MULTILINE)
_CHALLENGE = re.compile(r"^## (Challenge \d+)\. ", re.MULTILINE)
_CHECKED = re.compile(r"^require\(\s*\"(\w+)\"", re.MULTILINE)
_MENTION = re.compile(r"Section (\d+)\b")


@dataclass(frozen=True)
class Section:
    """One section.

    notebook : its file, as a link from any of the others.
    challenge : what `course.checks` calls the challenge in it, or None.
    challenge_label : what readers call it, "Challenge 1", or "".
    """

    number: int
    title: str
    notebook: str
    challenge: str | None = None
    challenge_label: str = ""


@cache
def sections() -> tuple[Section, ...]:
    """Every numbered section in order, read from the masters, so that no title is written down twice."""
    return tuple(sorted(_sections(), key=lambda section: section.number))


def section_of(challenge: str) -> Section | None:
    """The section that a challenge is in."""
    return next((section for section in sections() if section.challenge == challenge), None)


def section_mentioned(text: str) -> Section | None:
    """The section that a text like "Section 5, Append ..." names."""
    found = _MENTION.search(text)
    number = int(found[1]) if found else None
    return next((section for section in sections() if section.number == number), None)


def _sections() -> Iterator[Section]:
    for path in SOURCE.glob("*/*.md"):
        text = path.read_text(encoding="utf-8")
        title, label, checked = (find.search(text) for find in (_TITLE, _CHALLENGE, _CHECKED))
        if title:
            yield Section(
                number=int(title[1]),
                title=title[2],
                notebook=f"{path.stem}.ipynb",
                challenge=checked[1] if checked else None,
                challenge_label=label[1] if label else "",
            )
