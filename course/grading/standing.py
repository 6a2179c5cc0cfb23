"""How a submission stands: what grading found, what persons gave, and what was taken off for lateness.

This is the only place that answers the question. The table of `course grade`, students' pages, the report and
the exports all ask it. It works on plain data and does not import nbgrader, which takes seconds.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from course.grading.records import CellResult, Key, Record, Status
from course.text import lines, readable

Place = tuple[str, str]  # assignment and notebook


@dataclass(frozen=True)
class ManualMarks:
    """What the gradebook holds for one notebook, by grade_id. Two are equal if persons gave the same.

    scores : points that take the place of the automatic ones.
    extra : extra credit.
    comments : of the cell the comment is for.
    penalty : for handing in late, as points.
    automatic : the automatic points, empty if the notebook has no rows; None means those of the record.
    """

    scores: Mapping[str, float] = field(default_factory=dict)
    extra: Mapping[str, float] = field(default_factory=dict)
    comments: Mapping[str, str] = field(default_factory=dict)
    penalty: float = 0.0
    automatic: Mapping[str, float | None] | None = field(default=None, compare=False)


NOTHING = ManualMarks()
NO_ROWS = ManualMarks(automatic={})


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

    record : what grading found.
    status : the record's, but graded once every cell has points, whoever gave them.
    marks : the graded cells; of a notebook without a score, those that a person has given points for.
    raw_score : the points so far with extra credit, before the late penalty. None where there is no score,
        which is not a zero.
    manual : what the gradebook holds.
    """

    record: Record
    status: Status
    marks: tuple[Mark, ...]
    raw_score: float | None
    manual: ManualMarks = NOTHING

    @property
    def max_score(self) -> float:
        """The points of all graded cells."""
        return self.record.max_score

    @property
    def penalty(self) -> float:
        """What is taken off for lateness; nothing is taken off a notebook without a score."""
        return 0.0 if self.raw_score is None else self.manual.penalty

    @property
    def score(self) -> float | None:
        """The points so far less the late penalty, which takes no more than there is."""
        return None if self.raw_score is None else max(0.0, self.raw_score - self.penalty)

    @property
    def waiting(self) -> tuple[Mark, ...]:
        """The cells that a person still has to look at."""
        return tuple(mark for mark in self.marks if mark.points is None)

    @property
    def problem(self) -> str:
        """Why there is no score, or what went wrong in a notebook that has one, in a line."""
        if self.status == Status.GRADED:
            return "" if self.record.score is None else _lost_points(self.record)
        if self.status == Status.NEEDS_PERSON:
            return f"A person has to grade {', '.join(mark.result.cell for mark in self.waiting)}."
        return _in_a_line(self.record.problem) or (
            "It has no score yet." if self.status == Status.FAILED else ""
        )

    def as_record(self) -> Record:
        """The record with the status and the score that count now."""
        return replace(self.record, status=self.status, score=self.score)


@dataclass(frozen=True)
class Given:
    """What the gradebook adds to the records of a class.

    manual : what it holds for each notebook that has rows.
    cells : points of each notebook's graded cells by name.
    """

    manual: Mapping[Key, ManualMarks] = field(default_factory=dict)
    cells: Mapping[Place, Mapping[str, float]] = field(default_factory=dict)

    def standing(self, record: Record) -> Standing:
        """How the notebook of a record stands."""
        cells = self.cells.get(record.key[1:])
        return standing(record, self.manual.get(record.key, NOTHING if cells is None else NO_ROWS), cells)


def standing(
    record: Record, manual: ManualMarks | None = None, cells: Mapping[str, float] | None = None
) -> Standing:
    """How a notebook stands, once what persons gave is counted in.

    cells : points of the notebook's graded cells by name, for a record that has none of its own: a
        submission that could not be graded, and was marked by hand.
    """
    manual = manual or NOTHING
    results = record.cells or tuple(
        CellResult(cell, cell, None, None, maximum, "manual") for cell, maximum in (cells or {}).items()
    )
    marks = tuple(_mark(result, manual) for result in results)
    status = _status(record, marks)
    if status in (Status.FAILED, Status.MISSING):  # what persons gave so far counts once it is complete
        return Standing(record, status, tuple(mark for mark in marks if mark.by_person), None, manual)
    raw_score = record.score
    if marks:
        raw_score = float(sum(mark.points + mark.extra for mark in marks if mark.points is not None))
    return Standing(record, status, marks, raw_score, manual)


def _status(record: Record, marks: tuple[Mark, ...]) -> Status:
    if not marks:
        return record.status
    if all(mark.points is not None for mark in marks):
        return Status.GRADED
    if record.status == Status.MISSING:
        return Status.MISSING
    return Status.NEEDS_PERSON if record.cells else Status.FAILED


def _mark(result: CellResult, manual: ManualMarks) -> Mark:
    automatic = result.points if manual.automatic is None else manual.automatic.get(result.cell)
    given = manual.scores.get(result.cell)
    extra = manual.extra.get(result.cell, 0.0)
    return Mark(result, automatic if given is None else given, given is not None, extra)


def _lost_points(record: Record) -> str:
    """A part for each check that was not passed and for each thing that went wrong, set off by "; "."""
    cells = [cell for cell in record.cells if cell.status in ("failed", "error")]
    parts = [f"{cell.name}: {next(iter(lines(str(cell.message))), cell.status)}" for cell in cells]
    parts += [each.text for each in record.findings if each.kind in ("problem", "suspicious")]
    return "; ".join(_in_a_line(part) for part in [record.problem, *parts] if part)


def _in_a_line(text: str) -> str:
    return "; ".join(lines(readable(text)))
