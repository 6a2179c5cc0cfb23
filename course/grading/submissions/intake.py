"""Finds what students handed in, and reads it as bytes: no link is followed, and nothing is trusted."""

import os
import stat
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from course.files import sha256
from course.grading.errors import SubmissionError
from course.grading.masters import Master
from course.grading.submissions.parse import parse_notebook

MAX_BYTES = 20_000_000  # far above any notebook of the course, with its pictures
_SHOWN = 5  # names in one sentence
_RECEIPT = ("timestamp.txt", "submission_secret.txt")  # nbgrader's collect lays them beside the notebooks


@dataclass(frozen=True)
class Submission:
    """One student's file for one notebook; without `data`, `problem` says why.

    missing : nothing was handed in.
    notes : what is worth telling about the file, a sentence each.
    timestamp : when it was handed in, as nbgrader's collect wrote it down.
    """

    student: str
    master: Master
    data: bytes | None = None
    problem: str = ""
    missing: bool = False
    notes: list[str] = field(default_factory=list)
    timestamp: str | None = None

    @property
    def sha256(self) -> str | None:
        """What identifies the file's content."""
        return None if self.data is None else sha256(self.data)


def collect(submitted: Path, masters: list[Master]) -> Iterator[Submission]:
    """A submission for every student in `submitted/` and every notebook of the course, handed in or not."""
    for student in sorted(submitted.iterdir()):
        if _is_student(student):
            for assignment in sorted({master.assignment for master in masters}):
                wanted = [master for master in masters if master.assignment == assignment]
                yield from _collect_assignment(student, assignment, wanted)


def strays(submitted: Path, masters: list[Master]) -> list[str]:
    """What lies in `submitted/` where nothing is looked for, and so is not graded."""
    known = {_composed(master.assignment) for master in masters}
    found = []
    for entry in sorted(submitted.iterdir()):
        if _is_student(entry):
            with suppress(OSError):  # the student's own line says that it cannot be opened
                found += [inner for inner in sorted(entry.iterdir()) if _composed(inner.name) not in known]
        elif entry.is_dir() or _is_notebook(entry):
            found.append(entry)
    visible = [
        path.relative_to(submitted) for path in found if not path.name.startswith(".") or _has_notebooks(path)
    ]
    return [_printable(str(path)) for path in visible]


def why_astray(stray: str) -> str:
    """Why one of the `strays` is not graded, as the beginning of a sentence."""
    top = stray.partition("/")[0]
    if top.startswith(".") or "\N{REPLACEMENT CHARACTER}" in top:
        return "Not graded, because no student has a name that begins with a dot or cannot be printed"
    return "Not graded, because it is in no student's folder for an assignment"


def _has_notebooks(entry: Path) -> bool:
    """Whether a hidden folder is more than what a program left behind."""
    if entry.is_symlink() or not entry.is_dir() or entry.name == ".ipynb_checkpoints":
        return False
    with suppress(OSError):
        folders = [inner for inner in entry.iterdir() if inner.is_dir()]
        return any(_is_notebook(inner) for folder in folders for inner in folder.iterdir())
    return False


def _is_student(entry: Path) -> bool:
    # A name that cannot be printed cannot be written into the gradebook or the log either.
    return entry.is_dir() and entry.name.isprintable() and not entry.name.startswith(".")


def _is_notebook(entry: Path) -> bool:
    """Whether a file's name says so; browsers save some as `name.ipynb.txt` or `name.ipynb.json`."""
    return ".ipynb" in entry.name.casefold()


def _composed(name: str) -> str:
    """A name with each accent in its letter: systems and archives write them in two ways."""
    return unicodedata.normalize("NFC", name)


def _printable(name: str) -> str:
    text = name.encode(errors="backslashreplace").decode()
    return "".join(
        character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text
    )


@dataclass(frozen=True)
class _Folder:
    """What lies in a student's folder of an assignment: notebooks by name, and the names of all the rest."""

    notebooks: dict[str, Path]
    others: list[str]
    timestamp: str | None


def _collect_assignment(student: Path, assignment: str, masters: list[Master]) -> Iterator[Submission]:
    """One submission a master; a file of another name is taken for the master whose cells it has."""
    try:
        folder = _look_into(_place_of(student, assignment))
    except SubmissionError as error:
        for master in masters:
            yield Submission(student.name, master, problem=str(error))
        return
    known = {_composed(master.name) for master in masters}
    renamed = {path: _grade_ids(path) for name, path in folder.notebooks.items() if name not in known}
    beside = []
    if folder.others:
        more = f" and {len(folder.others) - _SHOWN} more" if len(folder.others) > _SHOWN else ""
        beside = [f"Handed in beside the notebook, and not used: {', '.join(folder.others[:_SHOWN])}{more}."]
    for master in masters:
        notes: list[str] = []
        path = folder.notebooks.get(_composed(master.name))
        candidates = [path for path, names in renamed.items() if not names.isdisjoint(master.cells)]
        if path is not None:
            notes += [f"There is also {_printable(path.name)}, which was not graded." for path in candidates]
        elif not candidates:
            yield Submission(student.name, master, problem=_missing(list(renamed)), missing=True)
            continue
        elif len(candidates) > 1:
            names = ", ".join(_printable(path.name) for path in candidates[:_SHOWN])
            problem = f"{len(candidates)} files could be this notebook: {names}. Leave one of them."
            yield Submission(student.name, master, problem=problem)
            continue
        else:
            path = candidates[0]
            notes.append(f"Handed in under another name, {_printable(path.name)}.")
        notes += beside
        try:
            data = _read(path)
        except SubmissionError as error:
            yield Submission(student.name, master, problem=str(error), notes=notes)
        else:
            yield Submission(student.name, master, data, notes=notes, timestamp=folder.timestamp)


def _missing(others: list[Path]) -> str:
    if not others:
        return "Not handed in."
    names = ", ".join(_printable(path.name) for path in others[:_SHOWN])
    return f"Not handed in; there is {names}, without the cells of this notebook."


def _place_of(student: Path, assignment: str) -> Path:
    """The student's folder of an assignment, in whichever way its accents are written."""
    exact = student / assignment
    if not os.path.lexists(exact):
        with suppress(OSError):
            for entry in sorted(student.iterdir()):
                if _composed(entry.name) == _composed(assignment):
                    return entry
    return exact


def _look_into(folder: Path) -> _Folder:
    """What lies in a folder. Raises SubmissionError if it is no folder, or cannot be opened."""
    try:
        if folder.is_symlink():
            raise SubmissionError("The folder is a link to another place; links are not followed.")
        entries = sorted(folder.iterdir())
    except FileNotFoundError:
        return _Folder({}, [], None)
    except NotADirectoryError:
        raise SubmissionError("There is a file in place of the assignment's folder.") from None
    except OSError as error:
        raise SubmissionError(f"The folder cannot be opened: {error.strerror}.") from None
    entries = [entry for entry in entries if not entry.name.startswith(".")]
    notebooks: dict[str, Path] = {}
    for entry in filter(_is_notebook, entries):
        name = _composed(entry.name[:-6] if entry.name.casefold().endswith(".ipynb") else entry.name)
        # Two files of one name, written in two ways: the second is one under another name.
        notebooks[entry.name if name in notebooks else name] = entry
    others = [
        _printable(entry.name) for entry in entries if not _is_notebook(entry) and entry.name not in _RECEIPT
    ]
    return _Folder(notebooks, others, _timestamp(folder / "timestamp.txt"))


def _grade_ids(path: Path) -> set[str]:
    """The names of a file's cells, to find out which notebook it is; none if it is no notebook."""
    try:
        cells = parse_notebook(_read(path)).cells
    except SubmissionError:
        return set()
    return {name for cell in cells for name in (cell.grade_id, cell.id) if name}


def _read(path: Path) -> bytes:
    """The bytes of an ordinary file of sensible size.

    Raises SubmissionError if it is anything else or cannot be opened.
    """
    name = _printable(path.name)
    try:
        status = path.lstat()
        if stat.S_ISLNK(status.st_mode):
            raise SubmissionError(f"{name} is a link to another file; links are not followed.")
        if not stat.S_ISREG(status.st_mode):
            kind = "a folder" if stat.S_ISDIR(status.st_mode) else "not an ordinary file"
            raise SubmissionError(f"{name} is {kind}, where a notebook should be.")
        # Should a link or a pipe have taken the file's place since: not followed, and not waited for.
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise SubmissionError(f"{name} is not an ordinary file, where a notebook should be.")
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise SubmissionError(f"The file cannot be opened: {error.strerror}.") from None
    if len(data) > MAX_BYTES:
        size = f"{max(status.st_size, len(data)) / 1e6:.1f} MB"
        raise SubmissionError(f"The file has {size}; up to {MAX_BYTES / 1e6:.0f} MB are read.")
    return data


def _timestamp(path: Path) -> str | None:
    """When it was handed in, as nbgrader's collect writes it down."""
    try:
        return _read(path)[:100].decode().strip() or None
    except (SubmissionError, UnicodeDecodeError):
        return None
