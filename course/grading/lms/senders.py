"""Remembers which number each student's work came with, so that a second archive can't bring another's.

Within one archive two numbers with one name are two people. Across archives that is only known if the first
number is written down, in `.senders.jsonl` in the class's folder. Only numbers known to be the users' count.
"""

from collections.abc import Iterable
from pathlib import Path

from course.files import add_note, notes_in
from course.grading.lms.marks import Numbers
from course.grading.lms.names import Writer, same_folder
from course.grading.lms.sorting import HandedIn, Left
from course.text import printable

NOTES = ".senders.jsonl"
_CANVAS, _MOODLE = {Writer.CANVAS: "Canvas"}, {Writer.MOODLE: "Moodle"}
Key = tuple[str, str, str]


class Senders:
    """The numbers of a class's earlier archives."""

    def __init__(self, folder: Path, assignment: str, numbers: Numbers) -> None:
        self._path, self._assignment = folder / NOTES, assignment
        self._platforms = {"users": _CANVAS | _MOODLE, "ignore": {}, None: _CANVAS}[numbers]
        self._known: dict[Key, str] = {}
        for platform, assigned, student, number in notes_in(self._path, 4):
            self._known[platform, assigned, student] = number

    def without_others(self, handed_in: Iterable[HandedIn]) -> tuple[list[HandedIn], list[Left]]:
        """Leave out what comes with another number than the same student's work did before."""
        kept, left = [], []
        for each in handed_in:
            key = self._key(each)
            before = self._known.get(key) if key else None
            number = each.sender.number
            if before is None or before == number or _is_confirmed(each):
                kept.append(each)
                continue
            reason = (
                f"{printable(each.sender.name, 200)} comes with the number {number}, and came with {before} "
                "in an earlier archive; they may be two people. Tell them apart with --students, or say "
                "--numbers ignore if such numbers are not the users' own"
            )
            left.append(Left(each.found.shown, reason, each.fits))
        return kept, left

    def remember(self, each: HandedIn) -> None:
        """Write down which number a student's work came with."""
        key = self._key(each)
        if key and self._known.get(key) != each.sender.number:
            self._known[key] = each.sender.number
            add_note(self._path, [*key, each.sender.number])

    def _key(self, each: HandedIn) -> Key | None:
        platform = self._platforms.get(each.sender.writer)
        if platform is None:
            return None
        return platform, self._assignment, same_folder(each.student)


def _is_confirmed(each: HandedIn) -> bool:
    """Whether the list of students says that the number is this student's."""
    return any(
        mark.is_number and mark.counts and each.student in [person.id for person in persons]
        for mark, persons in each.fits
    )
