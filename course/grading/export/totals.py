"""A student's notebooks taken together."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from course.grading.export.standing import Row
from course.grading.lms.people import Person
from course.grading.records import Status


@dataclass(frozen=True)
class Total:
    """An assignment of a student.

    score : the points of all its notebooks that were handed in. None while one of them failed or needs a
        person, since it would be too low, and where none was handed in.
    """

    person: Person
    assignment: str
    score: float | None
    max_score: float
    counts: Counter[Status]


def totals(rows: Iterable[Row]) -> list[Total]:
    """A total for each student and assignment, in the order of the notebooks."""
    together: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        together.setdefault((row.person.id, row.assignment), []).append(row)
    return [_total(group) for group in together.values()]


def _total(group: list[Row]) -> Total:
    counts = Counter(row.status for row in group)
    scores = [row.score for row in group if row.score is not None]
    settled = scores and not counts[Status.FAILED] and not counts[Status.NEEDS_PERSON]
    return Total(
        group[0].person,
        group[0].assignment,
        sum(scores) if settled else None,
        sum(row.max_score for row in group),
        counts,
    )
