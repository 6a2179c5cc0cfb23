"""Sorts what a platform handed out: whose each notebook is, which one it is, and which upload is the last."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from course.grading.lms.archive import Found, UnreadableError
from course.grading.lms.marks import Numbers
from course.grading.lms.names import (
    Named,
    Sender,
    Writer,
    is_in_tree,
    notebook_name,
    read_name,
    same_folder,
    what_is_wrong_with_id,
)
from course.grading.lms.people import Fits, Match, People
from course.grading.lms.spelling import folded, printable

_LONGEST = 200  # bytes of a notebook's name, which a draft's name is longer than
_LONG_AGO = datetime(1980, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class HandedIn:
    """A notebook to collect.

    upload, count : tell a later upload from an earlier one, where the platform writes such a number.
    from_platform : whether Canvas or Moodle named it. The time in its zip is then that of the download.
    fits : what points to whom in the list of students.
    """

    student: str
    notebook: str
    found: Found
    sender: Sender
    upload: int = 0
    count: int = 0
    late: bool = False
    from_platform: bool = False
    fits: Fits = ()

    @property
    def order(self) -> tuple[int, datetime, int]:
        """Of two uploads of the same notebook the later one is the greater."""
        return self.upload, self.found.time or _LONG_AGO, self.count


@dataclass(frozen=True)
class Left:
    """A file that is not collected, and why."""

    shown: str
    reason: str
    fits: Fits = ()


def sort_out(
    files: Iterable[Found],
    assignment: str,
    notebooks: Collection[str],
    people: People | None = None,
    taken: Collection[str] = (),
    numbers: Numbers = None,
) -> tuple[list[HandedIn], list[Left]]:
    """What to collect, by student and notebook, and what is left where it is.

    notebooks : the names of the assignment's. A file with another name keeps it.
    people : who is in the class; without, the name that the platform gives is the student's id.
    taken : the students there are already.
    numbers : whether the platform's numbers are the users' own; None: see `marks.number`.
    """
    handed_in: list[HandedIn] = []
    left: list[Left] = []
    senders: set[Sender] = set()
    for found, named in _named(files, assignment):
        reason = found.problem
        if not reason and not found.place[-1][-1].lower().endswith(".ipynb"):
            reason = "it is no notebook"
        if not reason and named is None:
            reason = f"its place does not say whose it is; put it into <student>/ or <student>/{assignment}/"
        if reason or named is None:
            left.append(Left(found.shown, reason))
            continue
        senders.add(named.sender)
        stem = named.file[: -len(".ipynb")] if named.file.lower().endswith(".ipynb") else named.file
        notebook, count = notebook_name(stem, notebooks)
        in_folder = len(found.place) == 1 and named.file == found.place[0][-1]
        moved = f"move it to {printable(notebook)}.ipynb in a folder called"
        by_hand = "rename its folder to" if in_folder else moved
        student, reason, fits = _student(named.sender, people, numbers, f"{by_hand} the student's id")
        if reason := reason or _what_is_wrong_with_name(notebook):
            left.append(Left(found.shown, reason, fits))
            continue
        handed_in.append(
            HandedIn(
                student,
                notebook,
                found,
                named.sender,
                named.upload,
                count,
                named.late,
                from_platform=not is_in_tree(found.place),
                fits=fits,
            )
        )
    handed_in, doubtful = _without_shared_numbers(handed_in, senders, numbers)
    handed_in, shared = _without_shared_ids(handed_in, taken)
    last, earlier = _last_uploads(handed_in)
    return last, sorted([*left, *doubtful, *shared, *earlier], key=lambda each: each.shown)


def _named(files: Iterable[Found], assignment: str) -> list[tuple[Found, Named | None]]:
    """Each file and what its place says; a folder that all others lie in says nothing."""
    named = [(found, read_name(found.place, assignment)) for found in files]
    notebooks = [(found, name) for found, name in named if found.place[-1][-1].lower().endswith(".ipynb")]
    in_tree = [(found, name) for found, name in notebooks if is_in_tree(found.place)]
    tops = {found.place[0][0] for found, _ in in_tree}
    if len(tops) != 1 or any(name is not None or len(found.place[0]) < 3 for found, name in in_tree):
        return named
    return [
        (found, read_name(((*found.place[0][1:],), *found.place[1:]), assignment))
        if is_in_tree(found.place) and len(found.place[0]) > 1
        else (found, name)
        for found, name in named
    ]


def _student(sender: Sender, people: People | None, numbers: Numbers, by_hand: str) -> tuple[str, str, Fits]:
    """The student's id, what is wrong with it, and what points to whom.

    by_hand : how an instructor who knows whose the file is can say so.
    """
    if people is None:
        return sender.name, what_is_wrong_with_id(sender.name), ()
    match = people.whose(sender.marks(numbers))
    if match.person is None:
        return "", f"{_called(sender)} {_why_nobodys(match, people, by_hand)}", match.fits
    return match.person.id, what_is_wrong_with_id(match.person.id), match.fits


def _why_nobodys(match: Match, people: People, by_hand: str) -> str:
    """Why a file is left, whose it could be, and what to do."""
    if len(match.possible) > 1:
        ids = ", ".join(person.id for person in match.possible)
        return f"could be {ids}: {match.facts}; {by_hand}"
    alike = f"it looks like {match.likeness}" if match.alike else ""
    if not match.pointed_at:
        if not alike:
            return "is not in the list of students"
        where = people.where(match.alike) or "the list of students"
        return f"is not in the list of students; {alike}: if it is, correct {where}, or {by_hand}"
    if match.number_alone:
        why = f"is not certain: {match.facts}, and this number need not be a user's"
        return f"{why}; if such numbers are the users' own, use --numbers users, or {by_hand}"
    steps = [f"correct {people.where(match.pointed_at) or 'the list of students'}", by_hand]
    if match.number_contradicts:
        steps.append("use --numbers ignore if such numbers are not the users' own")
    facts = "; ".join(filter(None, [match.facts, alike]))
    return f"is not certain: {facts}; {', or '.join(steps)}"


def _called(sender: Sender) -> str:
    name = printable(sender.name)
    if not sender.number or sender.writer is Writer.MOODLE_HIDING_NAMES:  # its name is the number
        return name
    return f"{name} ({sender.number})"


def _what_is_wrong_with_name(notebook: str) -> str:
    if not notebook.isprintable() or notebook.startswith(".") or not notebook.strip():
        return "its name cannot be a notebook's"
    return "its name is too long" if len(notebook.encode()) > _LONGEST else ""


def _without_shared_numbers(
    handed_in: Sequence[HandedIn], senders: Collection[Sender], numbers: Numbers
) -> tuple[list[HandedIn], list[Left]]:
    """Leave out those whose number, though a user's, is with another name too, unless the list has both."""
    names: dict[str, dict[str, str]] = {}
    for sender in senders:
        if any(mark.is_number and mark.counts for mark in sender.marks(numbers)):
            names.setdefault(sender.number, {})[folded(sender.name)] = printable(sender.name)
    kept, left = [], []
    for each in handed_in:
        marks = {mark.kind: persons for mark, persons in each.fits if mark.counts}
        known = all(
            each.student in [person.id for person in marks.get(kind, ())] for kind in ("name", "number")
        )
        others = names.get(each.sender.number, {})
        if "number" not in marks or known or len(others) == 1:
            kept.append(each)
            continue
        reason = (
            f"the number {each.sender.number} comes with the names {', '.join(sorted(others.values()))}, and "
            "the list of students does not say whose it is; write name and number there, or use --numbers "
            "ignore if such numbers are not the users' own"
        )
        left.append(Left(each.found.shown, reason, each.fits))
    return kept, left


def _without_shared_ids(
    handed_in: Sequence[HandedIn], taken: Collection[str]
) -> tuple[list[HandedIn], list[Left]]:
    """Leave out those whose id is another's too: their work must not end up in one folder."""
    senders: dict[str, dict[tuple[str, str], str]] = {}
    for each in handed_in:
        who = each.student, each.sender.number or each.sender.name
        senders.setdefault(same_folder(each.student), {})[who] = _called(each.sender)
    there = {same_folder(student): student for student in taken}
    kept, left = [], []
    for each in handed_in:
        key = same_folder(each.student)
        if len(senders[key]) > 1:
            names = ", ".join(sorted(senders[key].values()))
            reason = f"{names} would all be {each.student}; give each an id of their own with --students"
        elif there.get(key, each.student) != each.student:
            reason = f"its student would be {each.student}, and there is a folder {there[key]} already"
        else:
            kept.append(each)
            continue
        left.append(Left(each.found.shown, reason, each.fits))
    return kept, left


def _last_uploads(handed_in: Sequence[HandedIn]) -> tuple[list[HandedIn], list[Left]]:
    uploads: dict[tuple[str, str], list[HandedIn]] = {}
    for each in handed_in:
        uploads.setdefault((each.student, each.notebook), []).append(each)
    last, left = [], []
    for key in sorted(uploads):
        *earlier, latest = sorted(uploads[key], key=lambda each: each.order)
        equal = [each for each in earlier if each.order == latest.order]
        if equal and not _all_alike([latest, *equal]):
            reason = f"there are {len(equal) + 1} different ones of {key[1]}, and none says that it is newer"
            left += [Left(each.found.shown, reason, each.fits) for each in [*equal, latest]]
            left += [
                Left(each.found.shown, "an earlier upload", each.fits)
                for each in earlier
                if each not in equal
            ]
            continue
        left += [
            Left(each.found.shown, f"an earlier upload; {latest.found.shown} is taken", each.fits)
            for each in earlier
            if each not in equal
        ]
        last.append(latest)
    return last, left


def _all_alike(uploads: Sequence[HandedIn]) -> bool:
    try:
        return len({each.found.read() for each in uploads}) == 1
    except UnreadableError:
        return False
