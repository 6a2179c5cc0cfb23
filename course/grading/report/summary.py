"""What the records of a class add up to. Nothing here is guessed: every number is a count of records."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from statistics import mean, median

from course.grading.records import CellResult, Finding, Record, Status
from course.grading.standing import Given, Mark, Place, Standing

_WHOLE_POINTS = 15  # up to here a bar stands for a point, above it for a tenth of them
_ID = re.compile(r"(\D*)(\d*)")


@dataclass(frozen=True)
class Entry:
    """One notebook of one student: its record, and how it stands now."""

    record: Record
    now: Standing


@dataclass(frozen=True)
class Bar:
    """One bar of a histogram.

    count : how many are in it, all told.
    part : those among them that are shown in another colour.
    """

    label: str
    count: int
    part: int = 0


@dataclass(frozen=True)
class NotebookRow:
    """One notebook of the course; mean, median and bars are of those that are graded."""

    place: Place
    max_points: float
    counts: Mapping[Status, int]
    mean: float | None
    median: float | None
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class CheckRow:
    """One graded cell of the course, and how it went.

    counts : of the records' statuses: passed, failed, error, manual.
    mean : points, of those that have some.
    """

    place: Place
    cell: str
    name: str
    max_points: float
    counts: Mapping[str, int]
    mean: float | None

    @property
    def students(self) -> int:
        """How many it was graded for."""
        return sum(self.counts.values())


@dataclass(frozen=True)
class Misconception:
    """One slip of the catalogue: what students are told of it, and who made it where.

    entries : the notebooks it was found in, one a student and notebook.
    checks : the checks that found it, the most frequent one first.
    """

    id: str
    text: str
    entries: tuple[Entry, ...]
    checks: tuple[str, ...]

    @property
    def students(self) -> int:
        """How many made it."""
        return len({entry.record.student for entry in self.entries})


class Summary:
    """A class in numbers; each is worked out when it is asked for."""

    def __init__(self, records: Iterable[Record], given: Given | None = None) -> None:
        given = given or Given()
        self.entries = tuple(
            Entry(record, given.standing(record))
            for record in sorted(
                records, key=lambda record: (record.assignment, record.notebook, record.student)
            )
        )

    @cached_property
    def students(self) -> tuple[str, ...]:
        """Everybody in the records."""
        return tuple(sorted({entry.record.student for entry in self.entries}))

    @cached_property
    def places(self) -> dict[Place, list[Entry]]:
        """The notebooks in the course's order, each with its entries."""
        places: dict[Place, list[Entry]] = {}
        for entry in self.entries:
            places.setdefault((entry.record.assignment, entry.record.notebook), []).append(entry)
        return places

    @cached_property
    def by_student(self) -> dict[str, dict[Place, Entry]]:
        """What each student has."""
        found: dict[str, dict[Place, Entry]] = {student: {} for student in self.students}
        for place, entries in self.places.items():
            for entry in entries:
                found[entry.record.student][place] = entry
        return found

    def counts(self, entries: Iterable[Entry] | None = None) -> dict[Status, int]:
        """How many notebooks ended in each way."""
        found = Counter(entry.now.status for entry in (self.entries if entries is None else entries))
        return {status: found[status] for status in Status}

    def of_status(self, status: Status) -> list[Entry]:
        """The notebooks that stand so."""
        return [entry for entry in self.entries if entry.now.status == status]

    @cached_property
    def nobody(self) -> frozenset[Place]:
        """The notebooks that no student handed in: they are not due yet, most of the time."""
        return frozenset(
            place
            for place, entries in self.places.items()
            if all(entry.now.status == Status.MISSING for entry in entries)
        )

    @cached_property
    def missing(self) -> dict[str, list[Entry]]:
        """What was not handed in, by student; what nobody handed in is left out."""
        found: dict[str, list[Entry]] = {}
        for student, entries in self.by_student.items():
            wanted = [entry for place, entry in entries.items() if place not in self.nobody]
            if gone := [entry for entry in wanted if entry.now.status == Status.MISSING]:
                found[student] = gone
        return found

    def total(self, student: str) -> tuple[float, float] | None:
        """Points and maximum of a student's notebooks that are graded; None if none is."""
        graded = [
            entry.now for entry in self.by_student[student].values() if entry.now.status == Status.GRADED
        ]
        if not graded:
            return None
        return sum(now.score or 0.0 for now in graded), sum(now.max_score for now in graded)

    @cached_property
    def totals(self) -> tuple[Bar, ...]:
        """Students by their share of the points of what is graded.

        The part is those who have notebooks that are not, though others handed them in.
        """
        shares: list[int] = []
        parts: list[int] = []
        for student in self.students:
            total = self.total(student)
            if total is not None and total[1] > 0:
                tenth = _tenth(*total)
                shares.append(tenth)
                entries = self.by_student[student].items()
                if any(
                    entry.now.status != Status.GRADED for place, entry in entries if place not in self.nobody
                ):
                    parts.append(tenth)
        return tuple(Bar(label, shares.count(i), parts.count(i)) for i, label in enumerate(_TENTHS))

    @cached_property
    def notebooks(self) -> tuple[NotebookRow, ...]:
        """Each notebook of the course."""
        return tuple(self._notebook(place, entries) for place, entries in self.places.items())

    def _notebook(self, place: Place, entries: list[Entry]) -> NotebookRow:
        maximum = max(entry.now.max_score for entry in entries)
        points = [entry.now.score or 0.0 for entry in entries if entry.now.status == Status.GRADED]
        return NotebookRow(
            place,
            maximum,
            self.counts(entries),
            mean(points) if points else None,
            median(points) if points else None,
            _bars(points, maximum),
        )

    @cached_property
    def checks(self) -> tuple[CheckRow, ...]:
        """Each graded cell, in the course's order."""
        rows: list[CheckRow] = []
        for place, entries in self.places.items():
            cells: dict[str, list[Mark]] = {}
            for entry in entries:
                if entry.record.cells:
                    for mark in entry.now.marks:
                        cells.setdefault(mark.result.cell, []).append(mark)
            rows += [_check(place, cell, marks) for cell, marks in cells.items()]
        return tuple(rows)

    @cached_property
    def misconceptions(self) -> tuple[Misconception, ...]:
        """The slips that were recognised, the commonest first."""
        found: dict[str, list[tuple[Entry, CellResult]]] = {}
        for entry in self.entries:
            for cell in entry.record.cells:
                if cell.misconception:
                    found.setdefault(cell.misconception, []).append((entry, cell))
        slips = [_misconception(name, cases) for name, cases in found.items()]
        return tuple(sorted(slips, key=lambda slip: (-slip.students, _natural(slip.id))))

    @cached_property
    def unrecognised(self) -> int:
        """How many checks of challenges ended badly without a slip that was recognised."""
        return sum(
            cell.status in ("failed", "error") and not cell.misconception and cell.challenge is not None
            for entry in self.entries
            for cell in entry.record.cells
        )

    def with_findings(self, *kinds: str) -> list[tuple[Entry, list[Finding]]]:
        """The notebooks about which there is something of these kinds to tell."""
        found = [
            (entry, [one for one in entry.record.findings if one.kind in kinds]) for entry in self.entries
        ]
        return [(entry, findings) for entry, findings in found if findings]


_TENTHS = ("below 10 %", *(f"{i}0 to under {i + 1}0 %" for i in range(1, 9)), "90 to 100 %")


def _tenth(points: float, maximum: float) -> int:
    return min(9, max(0, int(10 * points / maximum)))


def _bars(points: list[float], maximum: float) -> tuple[Bar, ...]:
    """A bar a point where there are few, rounded down; else one a tenth of the maximum."""
    if maximum == int(maximum) and 0 < maximum <= _WHOLE_POINTS:
        whole = Counter(min(int(maximum), max(0, int(one))) for one in points)
        return tuple(Bar(str(i), whole[i]) for i in range(int(maximum) + 1))
    tenths = Counter(_tenth(one, maximum) for one in points) if maximum > 0 else Counter[int]()
    return tuple(Bar(label, tenths[i]) for i, label in enumerate(_TENTHS))


def _check(place: Place, cell: str, marks: list[Mark]) -> CheckRow:
    first = marks[0].result
    name = first.name.replace("_", " ")
    points = [mark.points for mark in marks if mark.points is not None]
    counts = Counter(str(mark.result.status) for mark in marks)
    return CheckRow(place, cell, name, first.max_points, counts, mean(points) if points else None)


def _misconception(name: str, cases: list[tuple[Entry, CellResult]]) -> Misconception:
    texts = Counter(cell.message.in_a_line for _, cell in cases)
    checks = Counter(f"{cell.challenge or ''} {cell.name}".strip().replace("_", " ") for _, cell in cases)
    entries = {entry.record.key: entry for entry, _ in cases}
    return Misconception(
        name,
        # The words that most were told; of those told equally often the shortest, without a case's details.
        min(texts, key=lambda text: (-texts[text], len(text), text)),
        tuple(entries.values()),
        tuple(sorted(checks, key=lambda check: (-checks[check], check))),
    )


def _natural(name: str) -> tuple[str, int]:
    letters, digits = _ID.match(name).groups()  # type: ignore[union-attr]  # it matches any text
    return letters, int(digits or 0)
