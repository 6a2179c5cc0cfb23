"""Which row of a platform's file is whose, and how a number is written there."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from course.grading.export.totals import Total
from course.grading.lms.people import Clue, People

_COMMA = re.compile(r"\d+,\d+")

Clues = Sequence[tuple[Clue, str]]


@dataclass
class Filled:
    """A platform's file with the scores in it, and a sentence about each thing to know about it."""

    data: bytes
    placed: int
    remarks: list[str] = field(default_factory=list)


def placed(
    rows: Iterable[tuple[str, Clues]], totals: Sequence[Total]
) -> tuple[list[Total | None], list[str]]:
    """Whose row each is, None where that is not certain, and a sentence about each row and student left over.

    rows : what the platform calls the student, and the clues to who it is, the most reliable first.
    """
    rows = list(rows)
    people = People(total.person for total in totals)
    by_id = {total.person.id: total for total in totals}
    found = [people.find(clues) for _, clues in rows]
    claims: dict[str, list[str]] = {}
    for (name, _), persons in zip(rows, found, strict=True):
        for person in persons:
            claims.setdefault(person.id, []).append(name)
    whose: list[Total | None] = []
    remarks: list[str] = []
    for (name, _), persons in zip(rows, found, strict=True):
        rivals = [other for person in persons for other in claims[person.id] if other != name]
        if len(persons) == 1 and len(claims[persons[0].id]) == 1:
            whose.append(by_id[persons[0].id])
            continue
        whose.append(None)
        if len(persons) > 1:
            ids = ", ".join(person.id for person in persons)
            remarks.append(
                f"{name} could be several students of the gradebook: {ids}. The row was left alone."
            )
        elif persons:
            others = f", as is {', '.join(rivals)}" if rivals else " twice"
            remarks.append(f"{name} is {persons[0].id} in the gradebook{others}. The rows were left alone.")
        else:
            remarks.append(f"{name} is no student of the gradebook. The row was left alone.")
    there = {total.person.id for total in whose if total}
    remarks += [
        f"{total.person.id} has {number(total.score)} of {number(total.max_score)} points and no row here."
        for total in totals
        if total.score is not None and total.person.id not in there
    ]
    return whose, remarks


def number(score: float | None, comma: bool = False) -> str:
    """A score with up to four decimals; nothing for none."""
    if score is None:
        return ""
    text = f"{score:.4f}".rstrip("0").rstrip(".")
    return text.replace(".", ",") if comma else text


def writes_commas(cells: Iterable[str]) -> bool:
    """Whether these numbers were written by somebody who sets a comma before the decimals."""
    return any(_COMMA.fullmatch(cell.strip()) for cell in cells)
