"""Puts a student's page together."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Literal

from course.checks.message import Message
from course.grading.feedback.cells import Notebook, read_notebook
from course.grading.feedback.pages import SHARED, number, of, page
from course.grading.limits import Limits
from course.grading.records import Record, Status
from course.grading.standing import ManualMarks, Mark, Standing, standing
from course.text import lines

Verdict = Literal["passed", "failed", "error", "waiting", "person"]
_SECTION = re.compile(r"Section (\d+)\b")


@dataclass(frozen=True)
class Card:
    """One graded cell on the page.

    verdict : how it ended; "person" where a person gave the points, "waiting" where one still has to.
    points : a phrase.
    message : what a failure says; None where there is nothing to say.
    comment : what a person wrote about the cell.
    """

    verdict: Verdict
    name: str
    points: str
    message: Message | None = None
    comment: str = ""


def feedback_page(
    record: Record,
    notebook: bytes,
    manual: ManualMarks | None = None,
    unchanged: AbstractSet[str] | None = None,
) -> bytes:
    """The page of one notebook as HTML that needs nothing else: no script, no style, no picture.

    notebook : the graded notebook's file.
    manual : what persons gave for it.
    unchanged : `handed_out` of its master; with it the student's own cells are told from the
        course's.
    """
    read = read_notebook(notebook, unchanged)
    now = standing(record, manual, read.points)
    comments = {cell: text for cell, text in (manual.comments if manual else {}).items() if text.strip()}
    cards = [_card(mark, read, comments) for mark in now.marks]
    # Of a submission that could not be graded there is only the master, which students must not see.
    runs = read.runs if record.cells else ()
    shown = {cell.name for run in runs for cell in run.cells if cell.name}
    graded = {mark.result.cell for mark in now.marks}
    return page(
        SHARED,
        "feedback.html.j2",
        record=record,
        problem=lines(record.problem),
        title=read.title or record.notebook,
        now=now,
        cards=cards,
        summary=_summary(now),
        sections=_sections(cards),
        waiting=[card.name for card in cards if card.verdict == "waiting"],
        found={
            kind: [f.text for f in record.findings if f.kind == kind]
            for kind in ("problem", "repair", "note")
        },
        runs=runs,
        # Beside the cell where that is on the page; on its card, or else by themselves.
        beside={cell: text for cell, text in comments.items() if cell in shown and cell not in graded},
        others=[text for cell, text in comments.items() if cell not in shown | graded],
        seconds=number(Limits().cell_seconds),
    )


def _card(mark: Mark, notebook: Notebook, comments: dict[str, str]) -> Card:
    result = mark.result
    name = notebook.names.get(result.cell) or result.name.replace("_", " ")
    if mark.points is None:
        verdict: Verdict = "waiting"
    elif mark.by_person or result.status == "manual":
        verdict = "person"
    else:
        verdict = result.status
    points = (
        of(mark.points or 0, result.max_points) if mark.points is not None else of_open(result.max_points)
    )
    if mark.extra:
        points += f", and {number(mark.extra)} extra"
    return Card(
        verdict, name[:1].upper() + name[1:], points, result.message or None, comments.get(result.cell, "")
    )


def of_open(maximum: float) -> str:
    """Points that are not known yet."""
    return f"– of {number(maximum)} {'point' if maximum == 1 else 'points'}"


def _summary(now: Standing) -> str:
    """How a notebook stands, in a sentence."""
    checks = [mark for mark in now.marks if not mark.by_person and mark.result.status != "manual"]
    passed = sum(mark.result.status == "passed" for mark in checks)
    if now.status in (Status.FAILED, Status.MISSING) or not checks:
        return ""
    if passed == len(checks):
        return "Every check passed." if len(checks) > 1 else "The check passed."
    if not passed:
        return "No check passed yet. " + _WHERE
    return f"{passed} of {len(checks)} checks passed. " + _WHERE


_WHERE = "Below is what the others found, and what to read again."


def _sections(cards: list[Card]) -> list[str]:
    """The sections that failures name, each once, in the course's order."""
    named = {card.message.section for card in cards if card.message and card.message.section}

    def place(section: str) -> tuple[int, str]:
        found = _SECTION.search(section)
        return (int(found[1]) if found else 0, section)

    return sorted(named, key=place)
