"""What counts for each graded cell: the check's points, or those that a person gave in their place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from course.grading.records import CellResult, Record, Status

if TYPE_CHECKING:
    from course.grading.gradebook.writer import ManualMarks


@dataclass(frozen=True)
class Mark:
    """One graded cell as it stands.

    points : what counts, extra credit left out; None while a person still has to give them.
    by_person : whether a person gave them.
    extra : extra credit, on top.
    """

    result: CellResult
    points: float | None
    by_person: bool = False
    extra: float = 0.0


@dataclass(frozen=True)
class Standing:
    """One notebook as it stands.

    status : the record's, but graded where persons have given all that was waiting for them.
    points : with extra credit, and without what was taken off; None where there is no score.
    penalty : what was taken off because it was late.
    """

    status: Status
    marks: tuple[Mark, ...]
    points: float | None
    max_points: float
    penalty: float = 0.0

    @property
    def waiting(self) -> tuple[Mark, ...]:
        """The cells that a person still has to look at."""
        return tuple(mark for mark in self.marks if mark.points is None)


def standing(
    record: Record, manual: ManualMarks | None = None, cells: Mapping[str, float] | None = None
) -> Standing:
    """How a notebook stands, once what persons gave is counted in.

    cells : points of the notebook's graded cells by name, for a record that has none of its own: a
        submission that could not be graded, and was marked by hand.
    """
    results = record.cells or tuple(
        CellResult(cell, cell, None, None, maximum, "manual") for cell, maximum in (cells or {}).items()
    )
    marks = tuple(_mark(result, manual) for result in results)
    status = record.status
    if marks and all(mark.points is not None for mark in marks):
        status = Status.GRADED
    if status in (Status.FAILED, Status.MISSING):  # what persons gave so far counts once it is complete
        given = tuple(mark for mark in marks if mark.by_person)
        return Standing(status, given, None, record.max_score)
    if marks:
        points: float | None = sum(mark.points + mark.extra for mark in marks if mark.points is not None)
    else:
        points = record.score
    penalty = manual.penalty if manual else 0.0
    total = None if points is None else max(0.0, points - penalty)
    return Standing(status, marks, total, record.max_score, penalty)


def _mark(result: CellResult, manual: ManualMarks | None) -> Mark:
    given = manual.scores.get(result.cell) if manual else None
    extra = manual.extra.get(result.cell, 0.0) if manual else 0.0
    return Mark(result, result.points if given is None else given, given is not None, extra)
