"""A student's notebooks taken together."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from course.grading.export.standing import Standing
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


def totals(standings: Iterable[Standing]) -> list[Total]:
    """A total for each student and assignment, in the order of the notebooks."""
    together: dict[tuple[str, str], list[Standing]] = {}
    for standing in standings:
        together.setdefault((standing.person.id, standing.assignment), []).append(standing)
    return [_total(group) for group in together.values()]


def _total(group: list[Standing]) -> Total:
    counts = Counter(standing.status for standing in group)
    scores = [standing.score for standing in group if standing.score is not None]
    settled = scores and not counts[Status.FAILED] and not counts[Status.NEEDS_PERSON]
    return Total(
        group[0].person,
        group[0].assignment,
        sum(scores) if settled else None,
        sum(standing.max_score for standing in group),
        counts,
    )
