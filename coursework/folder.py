"""A folder of notebooks that somebody works in: made, brought up to date, and never written over."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any

from coursework.files import drafted, write_atomically
from coursework.merge import Merged, merge
from coursework.origin import NotANotebookError, is_as_made, parse, title_of, to_bytes, version_of

EARLIER = "earlier-versions"  # beside the notebooks, where what was replaced is kept
_STAMP = "%Y-%m-%d %H.%M.%S"
_KEPT = re.compile(r"(?P<name>.+) \(\d{4}-\d\d-\d\d \d\d\.\d\d\.\d\d(?:, \d+)?\)\.ipynb")


class FolderError(Exception):
    """Something that cannot be done; `str` says what is in the way and what to do, in sentences."""


@dataclass
class Report:
    """What was done in a folder.

    made : the notebooks that were not there before.
    renewed : those in which nobody had written anything.
    kept : whether earlier files of some of these were kept: they had been run, or do not tell what they were.
    lines : a sentence about each notebook that held somebody's work, or that was left alone.
    """

    made: list[str] = field(default_factory=list)
    renewed: list[str] = field(default_factory=list)
    kept: bool = False
    lines: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        parts = []
        if self.made:
            parts.append(f"{_count(len(self.made), 'notebook')} made.")
        if self.renewed:
            without = " in which you had written nothing" if self.lines or self.kept else ""
            parts.append(f"{_count(len(self.renewed), 'notebook')}{without} brought up to date.")
        if self.kept:
            parts.append(f"Their earlier files are in {EARLIER}/.")
        return "\n".join([*self.lines, " ".join(parts)]).strip()


def update(folder: Path, course: Mapping[str, Any]) -> Report:
    """Make a reader's notebooks in a folder, or set what the reader wrote into the course's new ones.

    course : the course's notebooks by file name, as it made them.

    A notebook in which nothing was written is replaced. Of one with somebody's work the earlier file is kept
    in `earlier-versions/`. Every file that is none of these notebooks is left alone.
    """
    report = Report()
    for name, new in course.items():
        try:
            _update(folder, name, new, report)
        except NotANotebookError as error:
            report.lines.append(
                f"{name} was left as it is: {error}. Mend it, or start it afresh: --fresh {_short(name)}."
            )
        except OSError as error:
            report.lines.append(f"{name} was left as it is: {why(error)}.")
    if report.made or report.renewed or report.lines:
        report.lines += _left_behind(folder, course)
    return report


def why(error: OSError) -> str:
    """What the system said, and of which file."""
    said = error.strerror or str(error)
    return f"{error.filename}: {said}" if error.filename else said


def start_afresh(folder: Path, course: Mapping[str, Any], wanted: str) -> str:
    """Replace one notebook by the course's own, and say in a sentence where the reader's is kept.

    Raises FolderError if the course has no such notebook, OSError if it can't be written.
    """
    name = _named(wanted, course)
    path = folder / name
    kept = None
    with drafted(path, to_bytes(course[name])) as draft:  # on a full disk, nothing has been moved yet
        if os.path.lexists(path):
            kept = _keep(path)
        draft.replace(path)
    if kept is None:
        return f"{name} is as the course made it."
    return (
        f"{name} starts afresh. Yours is kept as {kept.relative_to(folder)}; to have it back: "
        f"--back {_short(name)}."
    )


def bring_back(folder: Path, course: Mapping[str, Any], wanted: str) -> str:
    """Put back the file that a notebook's last replacement kept, and keep the present one in its place.

    Raises FolderError if the course has no such notebook, or nothing was kept of it.
    """
    name = _named(wanted, course)
    path = folder / name
    earlier = sorted(_kept_of(folder, name))  # their names end with the time
    if not earlier:
        raise FolderError(f"Nothing of {name} is kept in {folder / EARLIER}.")
    latest = earlier[-1]
    if os.path.lexists(path):
        kept = _keep(path)
        latest.replace(path)
        return f"{name} is what it was before; what it was just now is {kept.relative_to(folder)}."
    latest.replace(path)
    return f"{name} is what it was before."


def _update(folder: Path, name: str, new: Any, report: Report) -> None:
    path = folder / name
    if not os.path.lexists(path):
        write_atomically(path, to_bytes(new))
        report.made.append(name)
        return
    if path.is_symlink() or not path.is_file():
        kind = "a link" if path.is_symlink() else "a folder"
        report.lines.append(f"{name} was left alone: there is {kind} of that name.")
        return
    data = path.read_bytes()
    mine = parse(data)
    if (title := title_of(mine)) not in (None, title_of(new)):
        report.lines.append(f"{name} was left alone: it is a copy of the course's {title}.")
        return
    if version_of(mine) == version_of(new):
        return
    if is_as_made(mine):
        write_atomically(path, to_bytes(new))
        report.renewed.append(name)
        return
    merged = merge(mine, new)
    renewed = to_bytes(merged.notebook)
    if renewed == data:
        return
    kept = _keep(path, move=False)
    write_atomically(path, renewed)
    if not merged.holds_work:
        report.renewed.append(name)
        report.kept = True
        return
    report.lines.append(f"{name}: {_told(merged)} The earlier file is {kept.relative_to(folder)}.")


def _left_behind(folder: Path, course: Mapping[str, Any]) -> Iterator[str]:
    """A sentence about each notebook that was the course's and is no longer in it."""
    for path in sorted(folder.glob("*.ipynb")):
        if path.name in course or not path.is_file():
            continue
        try:
            title = title_of(parse(path.read_bytes()))
        except (NotANotebookError, OSError):
            continue
        if title is not None and PurePosixPath(title).name == path.stem:
            yield f"{path.name} is no longer part of the course; yours stays as it is."


def _told(merged: Merged) -> str:
    parts = [
        *([_count(merged.answers, "answer")] if merged.answers else []),
        *([_count(merged.edited, "changed cell")] if merged.edited else []),
        *([f"{_count(merged.own, 'cell')} of your own"] if merged.own else []),
    ]
    text = "the course has changed."
    if parts:
        listed = " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))
        text = f"the course has changed, and {listed} {'are' if _many(merged) else 'is'} in the new notebook."
    if merged.outdated:
        amount = _count(len(merged.outdated), "question")
        text += f" {amount} you had answered changed: your answer is shown below it, and doesn't count."
    return text


def _many(merged: Merged) -> bool:
    return merged.answers + merged.edited + merged.own != 1


def _keep(path: Path, move: bool = True) -> Path:
    """Keep a file in `earlier-versions/`, under its name and the time; gives its new place."""
    folder = path.parent / EARLIER
    folder.mkdir(exist_ok=True)
    stamp = datetime.now().strftime(_STAMP)
    kept, number = folder / f"{path.stem} ({stamp}).ipynb", 1
    while os.path.lexists(kept):
        number += 1
        kept = folder / f"{path.stem} ({stamp}, {number}).ipynb"
    if move:
        return path.rename(kept)
    write_atomically(kept, path.read_bytes())
    return kept


def _kept_of(folder: Path, name: str) -> Iterator[Path]:
    if (folder / EARLIER).is_dir():
        for path in (folder / EARLIER).iterdir():
            match = _KEPT.fullmatch(path.name)
            if match and f"{match['name']}.ipynb" == name:
                yield path


def _named(wanted: str, course: Mapping[str, Any]) -> str:
    """The notebook that a reader means: its file's name, with or without its ending, or its number."""
    stem = wanted.removesuffix(".ipynb")
    number = stem.zfill(2) if stem.isdigit() else None
    for name in course:
        if name.removesuffix(".ipynb") == stem or name.partition("-")[0] == number:
            return name
    raise FolderError(f"The course has no notebook {wanted}; it has {', '.join(map(_short, course))}.")


def _short(name: str) -> str:
    return name.removesuffix(".ipynb")


def _count(number: int, one: str) -> str:
    return f"{number} {one if number == 1 else one + 's'}"
