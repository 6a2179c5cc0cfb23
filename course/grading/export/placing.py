"""Which row of a platform's file is whose, and how a number is written there."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from course.grading.export.totals import Total
from course.grading.lms.marks import Mark
from course.grading.lms.people import Match, People

_COMMA = re.compile(r"\d+,\d+")


@dataclass
class Filled:
    """A platform's file with the scores in it, and a sentence about each thing to know about it."""

    data: bytes
    placed: int
    remarks: list[str] = field(default_factory=list)


def placed(
    rows: Iterable[tuple[str, Sequence[Mark]]], totals: Sequence[Total]
) -> tuple[list[Total | None], list[str]]:
    """Whose row each is, None where that is not certain, and a sentence about each row and student left over.

    rows : what the platform calls the student, and what in the row points to somebody.
    """
    rows = list(rows)
    people = People(total.person for total in totals)
    by_id = {total.person.id: total for total in totals}
    matches = [people.whose(marks) for _, marks in rows]
    claims: dict[str, list[str]] = {}
    for (name, _), match in zip(rows, matches, strict=True):
        if match.person:
            claims.setdefault(match.person.id, []).append(name)
    whose: list[Total | None] = []
    remarks: list[str] = []
    for (name, _), match in zip(rows, matches, strict=True):
        if match.person and len(claims[match.person.id]) == 1:
            whose.append(by_id[match.person.id])
            continue
        whose.append(None)
        if match.person:
            rivals = [other for other in claims[match.person.id] if other != name]
            others = f", as is {', '.join(rivals)}" if rivals else " twice"
            remarks.append(f"{name} is {match.person.id} in the gradebook{others}. The rows were left alone.")
        else:
            remarks.append(f"{name} {_why_nobodys(match)}. The row was left alone.")
    there = {total.person.id for total in whose if total}
    remarks += [
        f"{total.person.id} has {number(total.score)} of {number(total.max_score)} points and no row here."
        for total in totals
        if total.score is not None and total.person.id not in there
    ]
    return whose, remarks


def _why_nobodys(match: Match) -> str:
    """Why no mark is written into a row, whose it could be, and what to do."""
    alike = f"; it looks like {match.likeness}" if match.alike else ""
    if len(match.possible) > 1:
        ids = ", ".join(person.id for person in match.possible)
        return f"could be several students of the gradebook: {ids}"
    if not match.pointed_at:
        return f"is no student of the gradebook{alike}"
    if match.number_alone:
        return (
            f"is not certain: {match.facts}, and this number need not be a user's; "
            "if such numbers are the users' own, use --numbers users"
        )
    steps = "correct whichever is wrong, the row or the gradebook's student"
    if match.number_contradicts:
        steps += ", or use --numbers ignore if such numbers are not the users' own"
    return f"is not certain: {match.facts}{alike}; {steps}"


def number(score: float | None, comma: bool = False) -> str:
    """A score with up to four decimals; nothing for none."""
    if score is None:
        return ""
    text = f"{score:.4f}".rstrip("0").rstrip(".")
    return text.replace(".", ",") if comma else text


def writes_commas(cells: Iterable[str]) -> bool:
    """Whether these numbers were written by somebody who sets a comma before the decimals."""
    return any(_COMMA.fullmatch(cell.strip()) for cell in cells)
