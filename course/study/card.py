"""A check's result as a card: HTML in a notebook, text everywhere else."""

from __future__ import annotations

from dataclasses import dataclass, replace
from html import escape
from typing import Literal

from course.checks.message import Message
from course.study import style
from course.study.places import section_mentioned

Verdict = Literal["passed", "failed", "error", "unwritten"]
_SIGNS = {"passed": "✓", "failed": "✗", "error": "!", "unwritten": "○"}
_WORDS = {"passed": "Passed", "failed": "Not passed", "error": "Error", "unwritten": "Not written yet"}
_COLOURS = {"passed": style.GOOD, "failed": style.BAD, "error": style.BAD, "unwritten": style.NEUTRAL}


@dataclass(frozen=True)
class Card:
    """How a check ended.

    name : of the check.
    points : a phrase, "0 of 2 points".
    message : what a failure says; None after a pass.
    so_far : how the challenge stands, or "".
    notes : what else the reader must know.
    """

    verdict: Verdict
    name: str
    points: str
    message: Message | None = None
    so_far: str = ""
    notes: tuple[str, ...] = ()

    @property
    def headline(self) -> str:
        """The result in a line, without its sign."""
        return f"{_WORDS[self.verdict]}: {self.name} ({self.points})"

    def __str__(self) -> str:
        lines = [f"{_SIGNS[self.verdict]} {self.headline}"]
        if self.message:
            lines.append(str(replace(self.message, sentence=self.message.in_a_line)))
        return "\n".join([*lines, *filter(None, [self.so_far]), *self.notes])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        colour = _COLOURS[self.verdict]
        body = [
            f"{style.sign(colour, _SIGNS[self.verdict])} <strong>{_WORDS[self.verdict]}</strong>: "
            f'<code style="{style.MONOSPACE}">{escape(self.name)}</code> ({escape(self.points)})'
        ]
        body += self._explanation()
        body += [escape(text) for text in (self.so_far, *self.notes) if text]
        attributes = f'class="course-card" role="group" aria-label="{escape(self.headline)}"'
        return style.panel(colour, attributes, *body)

    def _explanation(self) -> list[str]:
        if self.message is None:
            return []
        parts = [style.prose(self.message.in_a_line)]
        if self.message.case:
            parts.append("".join(_labelled(label, text) for label, text in self.message.case))
        if self.message.section:
            section = section_mentioned(self.message.section)
            again = self.message.section
            parts.append("Read again: " + (style.link(again, section.notebook) if section else escape(again)))
        return parts


def _labelled(label: str, text: str) -> str:
    """A label and its text; on a narrow screen the text goes below the label."""
    return (
        '<div style="display:flex;flex-wrap:wrap;column-gap:0.6em">'
        f'<span style="flex:0 0 7.5em">{escape(label)}:</span>'
        f'<span style="flex:1 1 16em;white-space:pre-wrap;{style.MONOSPACE}">{escape(text)}</span></div>'
    )
