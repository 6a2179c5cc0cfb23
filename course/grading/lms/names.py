"""Reads who handed in what from the names that Canvas and Moodle give to the files they hand out.

Canvas: `lovelaceada_12345_678901_loop.ipynb`, with `LATE_` before the first number where it is late, and
`anon_x1y2z` for name and number where it hides them.
Moodle: `Ada Lovelace_12345_assignsubmission_file/loop.ipynb` or, without folders,
`Ada Lovelace_12345_assignsubmission_file_loop.ipynb`.
Anything else is a tree of folders: `<student>/loop.ipynb` or `<student>/<assignment>/loop.ipynb`.
"""

import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from course.grading.lms import marks
from course.grading.lms.marks import Mark, Numbers

_CANVAS = re.compile(r"(?P<name>.+?)_(?P<late>LATE_)?(?P<number>\d+)_(?P<upload>\d+)_(?P<file>.+)", re.DOTALL)
_CANVAS_HIDDEN = re.compile(
    r"(?P<late>LATE_)?(?P<name>anon_[A-Za-z0-9]+)_(?P<upload>\d+)_(?P<file>.+)", re.DOTALL
)
_MOODLE = re.compile(r"(?P<name>[^_]*)_(?P<number>\d+)_assignsubmission_file(?:_(?P<file>.*))?", re.DOTALL)
_MOODLE_HIDDEN = "Participant"
# Canvas adds -1 to the name of a second upload, and browsers " (1)" to that of a second download.
_AGAIN = re.compile(r"(?P<name>.+?)(?:-(?P<upload>\d{1,3})| ?\((?P<download>\d{1,3})\))")
_LONGEST = 128  # what nbgrader's gradebook takes for an id


class Writer(Enum):
    """Who wrote the name of a file, and so what its parts mean."""

    CANVAS = auto()
    CANVAS_HIDING_NAMES = auto()
    MOODLE = auto()
    MOODLE_HIDING_NAMES = auto()
    PERSON = auto()  # a tree of folders


@dataclass(frozen=True)
class Sender:
    """Who handed in a file, in the platform's words.

    name : the folder's or the file's part that names the student, and their id unless a list says otherwise.
    number : the platform's own, where it writes one: Canvas's of the user, Moodle's of who took part.
    folders : those around a file whose own name, or whose folder's, the platform wrote.
    """

    name: str
    number: str = ""
    writer: Writer = Writer.PERSON
    folders: tuple[str, ...] = ()

    def marks(self, numbers: Numbers = None) -> list[Mark]:
        """What points to a student of the class.

        numbers : what the instructor says of the platform's numbers.
        """
        around = [marks.folder_around(name) for name in self.folders]
        hidden = marks.account("name", self.name)
        match self.writer:
            case Writer.PERSON:
                return [marks.folder(self.name)]
            case Writer.CANVAS:
                number = marks.number(self.number, numbers, of_users=True)
                return [*around, marks.squeezed_name(self.name), *number]
            case Writer.CANVAS_HIDING_NAMES:
                return [*around, hidden]
            case Writer.MOODLE | Writer.MOODLE_HIDING_NAMES:
                name = marks.whole_name(self.name) if self.writer is Writer.MOODLE else hidden
                return [*around, name, *marks.number(self.number, numbers, of_users=False)]


@dataclass(frozen=True)
class Named:
    """What a file's place says.

    file : its name as the student gave it, with an extension.
    upload : the platform's number of the upload; a later one is higher. 0 where it writes none.
    late : whether the platform says so.
    """

    sender: Sender
    file: str
    upload: int = 0
    late: bool = False


def read_name(place: Sequence[Sequence[str]], assignment: str) -> Named | None:
    """Who handed in the file at this place, or None if its place does not say.

    place : as in `archive.Found`.
    """
    return _platform_name(place) or _tree_name(place, assignment)


def is_in_tree(place: Sequence[Sequence[str]]) -> bool:
    """Whether a file has none of the names that platforms give."""
    return _platform_name(place) is None


def _platform_name(place: Sequence[Sequence[str]]) -> Named | None:
    parts = [name for part in place for name in part]
    file = parts[-1]
    for index, part in enumerate(parts):
        own, around = index == len(parts) - 1, tuple(parts[:index])
        # Moodle first: what a student calls a file can look like a name of Canvas's, with numbers of its own.
        if match := _MOODLE.fullmatch(part):
            name, number = match["name"].strip(), match["number"]
            writer = Writer.MOODLE
            if name == _MOODLE_HIDDEN:
                name, writer = f"{name} {number}", Writer.MOODLE_HIDING_NAMES
            sender = Sender(name, number, writer, around)
            return Named(sender, (match["file"] or file) if own else file)
        if match := _CANVAS_HIDDEN.fullmatch(part) or _CANVAS.fullmatch(part):
            fields = match.groupdict()
            number = fields.get("number") or ""
            writer = Writer.CANVAS if number else Writer.CANVAS_HIDING_NAMES
            sender = Sender(fields["name"], number, writer, around)
            return Named(sender, fields["file"] if own else file, int(fields["upload"]), bool(fields["late"]))
    return None


def _tree_name(place: Sequence[Sequence[str]], assignment: str) -> Named | None:
    # In a student's zip, folders are the student's own; the folder that the zip lies in says whose it is.
    folders = next((part[:-1] for part in place if len(part) > 1), ())
    if len(folders) == 2 and folders[1] == assignment:
        folders = folders[:1]
    return Named(Sender(folders[0]), place[-1][-1]) if len(folders) == 1 else None


def notebook_name(stem: str, known: Collection[str]) -> tuple[str, int]:
    """The notebook that a file is, and which file of that name, as `_AGAIN` tells; case does not matter.

    A name that is none of the known ones stays as it is; grading recognises the notebook by its cells.
    """
    by_case = {name.casefold(): name for name in known}
    if stem.casefold() in by_case:
        return by_case[stem.casefold()], 0
    match = _AGAIN.fullmatch(stem)
    if match and match["name"].casefold() in by_case:
        return by_case[match["name"].casefold()], int(match["upload"] or match["download"])
    return stem, 0


def what_is_wrong_with_id(student: str) -> str:
    """Why a text cannot be a student's id, which is a folder's name; nothing if it can."""
    if not student:
        return "there is no name"
    if not student.isprintable():
        return "the name holds characters that cannot be printed"
    if student.startswith(".") or "/" in student or "\\" in student:
        return f"{student!r} cannot be the name of a folder"
    if len(student) > _LONGEST or len(student.encode()) > 255:
        return f"the name is longer than {_LONGEST} characters"
    return ""


def same_folder(student: str) -> str:
    """Two ids with the same result would share a folder on some machine, or cannot be told apart."""
    return unicodedata.normalize("NFC", student).casefold()
