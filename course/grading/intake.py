"""Reads what students handed in, as data: nothing is run, no link is followed, nothing is trusted."""

import json
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat

from course.files import sha256
from course.grading.errors import SubmissionError
from course.grading.masters import Master

MAX_BYTES = 20_000_000  # far above any notebook of the course, with its pictures


@dataclass(frozen=True)
class SubmittedCell:
    """What grading takes from a cell: its kind, its text, and the name nbgrader knew it by."""

    kind: str
    source: str
    grade_id: str | None = None


@dataclass(frozen=True)
class Submission:
    """One student's file for one notebook; without cells, `problem` says why, and `data` may be None."""

    student: str
    master: Master
    data: bytes | None = None
    cells: list[SubmittedCell] | None = None
    problem: str = ""
    missing: bool = False
    notes: list[str] = field(default_factory=list)
    timestamp: str | None = None
    attachments: list[Path] = field(default_factory=list)

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
                yield from _collect_assignment(student / assignment, student.name, wanted)


def _is_student(entry: Path) -> bool:
    # A name that cannot be printed cannot be written into the gradebook or the log either.
    return entry.is_dir() and entry.name.isprintable() and not entry.name.startswith(".")


def strays(submitted: Path, masters: list[Master]) -> list[str]:
    """What lies in `submitted/` where nothing is looked for, and so is not graded."""
    known = {master.assignment for master in masters}
    found = []
    for entry in sorted(submitted.iterdir()):
        if _is_student(entry):
            with suppress(OSError):  # the student's own line says that it cannot be opened
                found += [inner for inner in sorted(entry.iterdir()) if inner.name not in known]
        elif entry.is_dir() or entry.suffix == ".ipynb":
            found.append(entry)
    visible = [path.relative_to(submitted) for path in found if not path.name.startswith(".")]
    return [str(path).encode(errors="backslashreplace").decode() for path in visible]


def parse_notebook(data: bytes) -> list[SubmittedCell]:
    """The cells of a notebook file.

    Raises SubmissionError if the bytes are no notebook.
    """
    try:
        return _parse(data)
    except SubmissionError:
        raise
    except Exception as error:  # whatever else a file can hold, it is one student's file
        raise SubmissionError(f"The file cannot be read as a notebook ({type(error).__name__}).") from error


def _parse(data: bytes) -> list[SubmittedCell]:
    if not data.strip():
        raise SubmissionError("The file is empty.")
    try:
        content = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise SubmissionError(
            "The file is not a whole notebook: its JSON cannot be read. "
            "It may have been cut off while it was saved or uploaded."
        ) from None
    version = content.get("nbformat") if isinstance(content, dict) else None
    if not isinstance(version, int) or not isinstance(content.get("cells", content.get("worksheets")), list):
        raise SubmissionError("The file holds JSON, but no notebook: it has no list of cells.")
    if version > 4:
        raise SubmissionError(f"The notebook's format is {version}; this course reads formats up to 4.")
    if version < 4:
        content = _converted(content, version)
    if not isinstance(content.get("cells"), list):
        raise SubmissionError("The notebook has no list of cells.")
    return [_cell(raw, number) for number, raw in enumerate(content["cells"], start=1)]


def _collect_assignment(folder: Path, student: str, masters: list[Master]) -> Iterator[Submission]:
    """One submission a master; a file of another name is taken for the master whose cells it has."""
    try:
        files, attachments = _files_in(folder)
    except SubmissionError as error:
        for master in masters:
            yield Submission(student, master, problem=str(error))
        return
    timestamp = _timestamp(folder / "timestamp.txt")
    renamed = {name: path for name, path in files.items() if name not in {master.name for master in masters}}
    for master in masters:
        notes: list[str] = []
        path = files.get(master.name)
        if path is None:
            candidates = [path for path in renamed.values() if _has_cells_of(path, master)]
            if not candidates:
                others = ", ".join(path.name for path in renamed.values())
                problem = (
                    f"Not handed in; there is {others}, without the cells of this notebook." if others else ""
                )
                yield Submission(student, master, problem=problem or "Not handed in.", missing=True)
                continue
            if len(candidates) > 1:
                names = ", ".join(path.name for path in candidates)
                yield Submission(student, master, problem=f"Several files could be this notebook: {names}.")
                continue
            path = candidates[0]
            notes.append(f"Handed in under another name, {path.name}.")
        else:
            copies = [path.name for path in renamed.values() if _has_cells_of(path, master)]
            notes += [f"There is also {name}, which was not graded." for name in copies]
        data: bytes | None = None
        try:
            data = _read(path)
            cells = parse_notebook(data)
        except SubmissionError as error:
            yield Submission(student, master, data, problem=str(error), notes=notes)
        else:
            yield Submission(
                student, master, data, cells, notes=notes, timestamp=timestamp, attachments=attachments
            )


def _files_in(folder: Path) -> tuple[dict[str, Path], list[Path]]:
    """The notebooks by name, and the ordinary files that came with them."""
    try:
        if folder.is_symlink():
            raise SubmissionError("The folder is a link to another place; links are not followed.")
        entries = sorted(folder.iterdir())
    except FileNotFoundError:
        return {}, []
    except NotADirectoryError:
        raise SubmissionError("There is a file in place of the assignment's folder.") from None
    except OSError as error:
        raise SubmissionError(f"The folder cannot be opened: {error.strerror}.") from None
    entries = [entry for entry in entries if not entry.name.startswith(".")]
    notebooks = {entry.stem: entry for entry in entries if entry.suffix == ".ipynb"}
    attachments = [entry for entry in entries if entry.suffix != ".ipynb" and _is_plain(entry)]
    return notebooks, attachments


def _is_plain(path: Path) -> bool:
    status = path.lstat()
    return stat.S_ISREG(status.st_mode) and status.st_size <= MAX_BYTES


def _read(path: Path) -> bytes:
    """The bytes of an ordinary file of sensible size.

    Raises SubmissionError if it is anything else or cannot be opened.
    """
    try:
        status = path.lstat()
        if stat.S_ISLNK(status.st_mode):
            raise SubmissionError(f"{path.name} is a link to another file; links are not followed.")
        if not stat.S_ISREG(status.st_mode):
            kind = "a folder" if stat.S_ISDIR(status.st_mode) else "not an ordinary file"
            raise SubmissionError(f"{path.name} is {kind}, where a notebook should be.")
        if status.st_size > MAX_BYTES:
            size = f"{status.st_size / 1e6:.0f} MB"
            raise SubmissionError(f"The file has {size}; up to {MAX_BYTES / 1e6:.0f} MB are read.")
        # Should a link have taken the file's place since: not followed either.
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
            return file.read(MAX_BYTES)
    except OSError as error:
        raise SubmissionError(f"The file cannot be opened: {error.strerror}.") from None


def _has_cells_of(path: Path, master: Master) -> bool:
    try:
        cells = parse_notebook(_read(path))
    except SubmissionError:
        return False
    return any(cell.grade_id in master.cells for cell in cells)


def _is_text(string: str) -> bool:
    """Whether a string can be written down: JSON can hold halves of surrogate pairs, UTF-8 cannot."""
    try:
        string.encode()
    except UnicodeEncodeError:
        return False
    return True


def _timestamp(path: Path) -> str | None:
    """When it was handed in, as nbgrader's collect writes it down."""
    try:
        return _read(path).decode().strip() or None
    except (SubmissionError, UnicodeDecodeError):
        return None


def _converted(content: dict[str, Any], version: int) -> dict[str, Any]:
    try:
        notebook = nbformat.convert(nbformat.from_dict(content), to_version=4)  # type: ignore[no-untyped-call]
    except Exception as error:
        raise SubmissionError(
            f"The notebook's format {version} is old, and this file does not keep to it."
        ) from error
    return dict(notebook)


def _cell(raw: object, number: int) -> SubmittedCell:
    kind = raw.get("cell_type") if isinstance(raw, dict) else None
    source = raw.get("source", "") if isinstance(raw, dict) else None
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    if kind not in ("code", "markdown", "raw") or not isinstance(source, str):
        raise SubmissionError(f"Cell {number} of the file is not a notebook's cell.")
    if not _is_text(source):
        raise SubmissionError(f"Cell {number} of the file holds half characters, which are no text.")
    assert isinstance(raw, dict)
    metadata = raw.get("metadata")
    nbgrader = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    grade_id = nbgrader.get("grade_id") if isinstance(nbgrader, dict) else None
    return SubmittedCell(str(kind), source, grade_id if isinstance(grade_id, str) else None)
