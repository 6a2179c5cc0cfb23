"""Puts the report together."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from course.grading.feedback.pages import page
from course.grading.records import Record, Status
from course.grading.report.links import Links
from course.grading.report.summary import Summary
from course.grading.standing import Given, Place

_TEMPLATES = Path(__file__).parent / "templates"
_NUMBER = re.compile(r"\d+")


def report_page(records: Iterable[Record], given: Given | None = None, links: Links | None = None) -> bytes:
    """The report as HTML that needs nothing else.

    given : what persons gave; without it the marks are those of the checks.
    links : to pages and notebooks; without them there are no links.
    """
    summary = Summary(records, given)
    return page(
        _TEMPLATES,
        "report.html.j2",
        summary=summary,
        counts=summary.counts(),
        Status=Status,
        links=links,
        names=_names(list(summary.places)),
        short=_short(list(summary.places)),
    )


def _names(places: list[Place]) -> dict[Place, str]:
    """What each notebook is called; its assignment is left out where there is but one."""
    one = len({assignment for assignment, _ in places}) == 1
    return {place: place[1] if one else f"{place[0]}/{place[1]}" for place in places}


def _short(places: list[Place]) -> dict[Place, str]:
    """Heads of narrow columns: the number a notebook's name begins with, where that tells them apart."""
    numbers = {place: found[0] for place in places if (found := _NUMBER.match(place[1]))}
    return numbers if len(set(numbers.values())) == len(places) else _names(places)
