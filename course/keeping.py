"""Writes the files that the course makes, and never over one that a person made or changed.

What was written where is noted down by digest, in `.written.jsonl` in the folder that it belongs to. A file
that is not as it was written, or was never written by us, is moved into `set-aside/` before another takes
its place, and whoever called is told.
"""

import os
import shutil
import sys
from collections.abc import Callable
from datetime import datetime
from functools import cached_property
from pathlib import Path

from course.files import add_note, notes_in, sha256, write_atomically

NOTES = ".written.jsonl"
SET_ASIDE = "set-aside"
_LISTED = 8


class Keeper:
    """Writes and removes files for one run of a command. A context manager: at its end it tells what was set
    aside.

    set_aside : the files of persons that had to make place, and where each is now.
    """

    def __init__(
        self, folder: Path, is_ours: Callable[[Path, bytes], bool] = lambda path, data: False
    ) -> None:
        """
        folder : what the files belong to, a class or the course.
        is_ours : whether a file tells by itself that we wrote it there, and that nobody changed it since.
        """
        self._folder, self._is_ours = folder, is_ours
        self._stamp = _now()
        self.set_aside: list[tuple[Path, Path]] = []

    def __enter__(self) -> "Keeper":
        return self

    def __exit__(self, *_: object) -> None:
        for line in self.told():
            print(line, file=sys.stderr)
        self.set_aside = []

    def write(self, path: Path, data: bytes) -> None:
        """Write a file in one step. A person's file in its place is set aside first."""
        if self._makes_place(path, data):
            self._note(path, data)
            write_atomically(path, data)

    def remove(self, path: Path) -> None:
        """Take a file away: our own is deleted, a person's is set aside, and none is no error."""
        if self._makes_place(path, None) and os.path.lexists(path):
            path.unlink()

    def is_ours(self, path: Path) -> bool:
        """Whether a file is there, and is as we wrote it."""
        if path.is_symlink() or not path.is_file():
            return False
        data = path.read_bytes()
        return sha256(data) in self._written.get(self._name(path), ()) or self._is_ours(path, data)

    def told(self) -> list[str]:
        """A sentence about what was set aside, if anything was; few files are named one by one."""
        if not self.set_aside:
            return []
        lines = [f"  {self._name(old)} -> {self._name(new)}" for old, new in self.set_aside[:_LISTED]]
        if (more := len(self.set_aside) - _LISTED) > 0:
            lines.append(f"  and {more} more, likewise below {self._home}")
        return [
            "These files had been made or changed by somebody. They were set aside, not written over:",
            *lines,
        ]

    def _makes_place(self, path: Path, data: bytes | None) -> bool:
        """Set aside whatever stands in the way; whether there is anything left to do."""
        for folder in reversed(path.parents):
            if folder != self._folder and folder.is_relative_to(self._folder) and not folder.is_dir():
                if os.path.lexists(folder):
                    self._set_aside(folder)
                break
        if not os.path.lexists(path):
            return data is not None
        if path.is_file() and not path.is_symlink() and data is not None and path.read_bytes() == data:
            self._note(path, data)
            return False
        if not self.is_ours(path):
            self._set_aside(path)
        return True

    def _set_aside(self, path: Path) -> None:
        kept = self._kept_as(path)
        kept.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(path, kept)
        self.set_aside.append((path, kept))

    @property
    def _home(self) -> Path:
        return self._folder / SET_ASIDE / self._stamp

    def _kept_as(self, path: Path) -> Path:
        """Where a file is kept: below `set-aside/`, or beside itself where it lies outside of the folder."""
        if path.is_relative_to(self._folder):
            return _free(self._home / path.relative_to(self._folder))
        return _free(path.with_name(f"{path.stem} (kept {self._stamp}){path.suffix}"))

    def _name(self, path: Path) -> str:
        return (path.relative_to(self._folder) if path.is_relative_to(self._folder) else path).as_posix()

    @cached_property
    def _written(self) -> dict[str, set[str]]:
        """The digests of all that was ever written, by name; a line that was cut off is passed over."""
        written: dict[str, set[str]] = {}
        for name, digest in notes_in(self._folder / NOTES, 2):
            written.setdefault(name, set()).add(digest)
        return written

    def _note(self, path: Path, data: bytes) -> None:
        """Note it down first: of a run that is killed before it writes, what is there stays ours as well."""
        name, digest = self._name(path), sha256(data)
        if digest not in self._written.get(name, ()):
            add_note(self._folder / NOTES, [name, digest])
            self._written.setdefault(name, set()).add(digest)


def what_is_wrong_with_target(path: Path, kind: str) -> str:
    """Why a file that an instructor named can't be written to, as a sentence; nothing if it can.

    kind : the ending of what is to be written, ".csv" say. A file of another kind was not meant: it may be
        the gradebook.
    """
    if path.is_dir():
        return f"{path} cannot be written to: it is a folder. Name a file, {path / f'name{kind}'} say."
    if os.path.lexists(path) and path.suffix.lower() != kind:
        return f"{path} is there already and is no {kind} file. Name another one."
    for folder in path.parents:
        if os.path.lexists(folder):
            return (
                "" if folder.is_dir() else f"{folder} is a file, so {path} cannot be written. Name another."
            )
    return ""


def move_aside(path: Path, folder: Path) -> Path | None:
    """Move what is in a folder into `set-aside/` of the folder that it belongs to.

    Gives its new place; None if there was nothing.
    """
    if not path.is_dir() or not any(path.iterdir()):
        return None
    below = path.relative_to(folder) if path.is_relative_to(folder) else Path(path.name)
    kept = _free(folder / SET_ASIDE / _now() / below)
    kept.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(path, kept)
    return kept


def _now() -> str:
    return datetime.now().strftime("%Y-%m-%d %H.%M.%S")


def _free(path: Path) -> Path:
    """The path, or one like it where nothing is yet."""
    free, number = path, 1
    while os.path.lexists(free):
        number += 1
        free = path.with_name(f"{path.stem} ({number}){path.suffix}")
    return free
