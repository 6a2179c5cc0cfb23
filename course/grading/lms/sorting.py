"""Sorts what a platform handed out: whose each notebook is, which one it is, and which upload is the last."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from course.grading.lms.archive import Found, UnreadableError
from course.grading.lms.names import (
    Named,
    Sender,
    is_in_tree,
    notebook_name,
    read_name,
    same_folder,
    what_is_wrong_with_id,
)
from course.grading.lms.people import Clue, People

_LONGEST = 200  # bytes of a notebook's name, which a draft's name is longer than
_LONG_AGO = datetime(1980, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class HandedIn:
    """A notebook to collect.

    upload, count : tell a later upload from an earlier one, where the platform writes such a number.
    from_platform : whether Canvas or Moodle named it. The time in its zip is then that of the download.
    """

    student: str
    notebook: str
    found: Found
    sender: Sender
    upload: int = 0
    count: int = 0
    late: bool = False
    from_platform: bool = False

    @property
    def order(self) -> tuple[int, datetime, int]:
        """Of two uploads of the same notebook the later one is the greater."""
        return self.upload, self.found.time or _LONG_AGO, self.count


@dataclass(frozen=True)
class Left:
    """A file that is not collected, and why."""

    shown: str
    reason: str


def sort_out(
    files: Iterable[Found],
    assignment: str,
    notebooks: Collection[str],
    people: People | None = None,
    taken: Collection[str] = (),
) -> tuple[list[HandedIn], list[Left]]:
    """What to collect, by student and notebook, and what is left where it is.

    notebooks : the names of the assignment's. A file with another name keeps it.
    people : who is in the class; without, the name that the platform gives is the student's id.
    taken : the students there are already.
    """
    handed_in: list[HandedIn] = []
    left: list[Left] = []
    for found, named in _named(files, assignment):
        reason = found.problem
        if not reason and not found.place[-1][-1].lower().endswith(".ipynb"):
            reason = "it is no notebook"
        if not reason and named is None:
            reason = f"its place does not say whose it is; put it into <student>/ or <student>/{assignment}/"
        if reason or named is None:
            left.append(Left(found.shown, reason))
            continue
        student, reason = _student(named.sender, people)
        stem = named.file[: -len(".ipynb")] if named.file.lower().endswith(".ipynb") else named.file
        notebook, count = notebook_name(stem, notebooks)
        if reason := reason or _what_is_wrong_with_name(notebook):
            left.append(Left(found.shown, reason))
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
            )
        )
    handed_in, shared = _without_shared_ids(handed_in, taken)
    last, earlier = _last_uploads(handed_in)
    return last, sorted([*left, *shared, *earlier], key=lambda each: each.shown)


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


def _student(sender: Sender, people: People | None) -> tuple[str, str]:
    """The student's id, and what is wrong with it."""
    if people is None:
        return sender.name, what_is_wrong_with_id(sender.name)
    clues = [
        (Clue.NUMBER, sender.number),
        (Clue.ID, sender.name),
        (Clue.EMAIL, sender.name),
        (Clue.NAME, sender.name),
        (Clue.MAILBOX, sender.name),
    ]
    persons = people.find(clues)
    if not persons:
        return "", f"{_called(sender)} is not in the list of students"
    if len(persons) > 1:
        return "", f"{_called(sender)} could be {', '.join(person.id for person in persons)}"
    return persons[0].id, what_is_wrong_with_id(persons[0].id)


def _called(sender: Sender) -> str:
    return f"{sender.name} ({sender.number})" if sender.number else sender.name


def _what_is_wrong_with_name(notebook: str) -> str:
    if not notebook.isprintable() or notebook.startswith(".") or not notebook.strip():
        return "its name cannot be a notebook's"
    return "its name is too long" if len(notebook.encode()) > _LONGEST else ""


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
        left.append(Left(each.found.shown, reason))
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
            left += [Left(each.found.shown, reason) for each in [*equal, latest]]
            left += [Left(each.found.shown, "an earlier upload") for each in earlier if each not in equal]
            continue
        left += [
            Left(each.found.shown, f"an earlier upload; {latest.found.shown} is taken")
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
