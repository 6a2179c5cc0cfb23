"""The files in what a platform handed out: a folder, a zip, and zips in them. Nothing is unpacked to disk.

A zip comes from a student and can be anything: links are not followed, encrypted entries and what would be
huge are not read, and the names in it never become a path.
"""

import io
import os
import stat
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path, PurePosixPath

from course.grading.lms.spelling import printable
from course.grading.submissions.intake import MAX_BYTES
from coursework.folder import EARLIER

MAX_ZIP = 200_000_000  # bytes of a zip that lies in another one
MAX_ENTRIES = 100_000  # of all folders and zips together
MAX_TOTAL = 20_000_000_000  # bytes of all files together, unpacked
MAX_RATIO = 200  # of a file's size to its packed size; text does not come near
_DEPTH = 2  # zips in each other: a platform's, and a student's in it
_SUSPECT = 1_000_000  # bytes from which on the ratio matters
_NO_TIME = (1980, 1, 1, 0, 0, 0)  # what a zip says if it knows no time
_ENCRYPTED = 0x1
_UTF_8 = 0x800
_EXTENDED_TIMESTAMP = 0x5455
_OURS = {"__MACOSX", ".ipynb_checkpoints", EARLIER}  # what programs leave behind, and nobody handed in


Place = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Found:
    """A file: where it lies, when it was written, and how to read it; or why it cannot be used.

    place : the names of the folders it lies in, and its own. A zip begins a new part, and its name, without
        the extension, ends the one before.
    shown : the same for a reader.
    unpacked : where a program that unpacks every zip in a folder of its own puts it, with the names as
        Python's zipfile reads them.
    """

    place: Place
    shown: str
    unpacked: tuple[str, ...] = ()
    time: datetime | None = None
    problem: str = ""
    read: Callable[[], bytes] = field(default=bytes, compare=False)


class UnreadableError(Exception):
    """A file turned out to be unreadable; the message says why."""


class Source:
    """A folder or a zip, as files. A context manager: zips stay open until their files have been read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._open: list[zipfile.ZipFile] = []
        self._entries = 0
        self._bytes = 0

    def __enter__(self) -> "Source":
        return self

    def __exit__(self, *_: object) -> None:
        for archive in self._open:
            archive.close()

    def files(self) -> Iterator[Found]:
        """Every file there is, in the order of their names.

        Raises OSError if the folder or the zip cannot be opened, zipfile.BadZipFile if it is no zip.
        """
        if self.path.is_dir():
            yield from self._in_folder(self.path, _Where())
        else:
            archive = self._opened(zipfile.ZipFile(self.path))
            yield from self._in_zip(archive, _Where(), _DEPTH)

    def _in_folder(self, folder: Path, where: "_Where") -> Iterator[Found]:
        for entry in sorted(folder.iterdir()):
            if _is_left_behind(entry.name):
                continue
            here = where.below((entry.name,), (entry.name,), printable(entry.name))
            status = entry.lstat()
            if problem := self._one_more():
                yield here.found(problem=problem)
                return
            if stat.S_ISLNK(status.st_mode):
                yield here.found(problem="it is a link; links are not followed")
            elif stat.S_ISDIR(status.st_mode):
                try:
                    yield from self._in_folder(entry, here.folder())
                except OSError as error:
                    yield here.found(problem=f"the folder cannot be opened: {error.strerror}")
            elif not stat.S_ISREG(status.st_mode):
                yield here.found(problem="it is not an ordinary file")
            elif entry.suffix.lower() == ".zip":
                yield from self._inner_zip(here, _DEPTH + 1, partial(zipfile.ZipFile, entry))
            elif problem := _too_big(status.st_size) or self._too_much(status.st_size):
                yield here.found(problem=problem)
            else:
                time = datetime.fromtimestamp(status.st_mtime, UTC)
                yield here.found(time, read=partial(_read_file, entry))

    def _in_zip(self, archive: zipfile.ZipFile, where: "_Where", depth: int) -> Iterator[Found]:
        for info in sorted(archive.infolist(), key=lambda info: info.filename):
            name = _name_in_zip(info)
            inner = PurePosixPath(name.replace("\\", "/"))
            if info.is_dir() or any(_is_left_behind(part) for part in inner.parts):
                continue
            here = where.below(inner.parts, PurePosixPath(info.filename).parts, printable(name))
            if problem := self._one_more():
                yield here.found(problem=problem)
                return
            if problem := _problem_of(info, inner):
                yield here.found(problem=problem)
            elif inner.suffix.lower() == ".zip":
                if info.file_size > MAX_ZIP:
                    yield here.found(problem=f"it has more than {MAX_ZIP // 10**6} MB unpacked")
                else:
                    yield from self._inner_zip(here, depth, partial(_open_entry, archive, info))
            elif problem := _too_big(info.file_size) or self._too_much(info.file_size):
                yield here.found(problem=problem)
            else:
                yield here.found(_time_of(info), read=partial(_read_entry, archive, info, MAX_BYTES))

    def _inner_zip(
        self, here: "_Where", depth: int, open_it: Callable[[], zipfile.ZipFile]
    ) -> Iterator[Found]:
        """The files of a zip that lies in a folder or in another zip."""
        if depth == 1:
            yield here.found(problem="it is a zip in a zip in a zip")
            return
        try:
            archive = self._opened(open_it())
        except UnreadableError as error:
            yield here.found(problem=str(error))
        except (OSError, zipfile.BadZipFile, NotImplementedError, ValueError):
            yield here.found(problem="it is not a whole zip")
        else:
            yield from self._in_zip(archive, here.zip(), depth - 1)

    def _opened(self, archive: zipfile.ZipFile) -> zipfile.ZipFile:
        self._open.append(archive)
        return archive

    def _one_more(self) -> str:
        """Count an entry; says so if there are too many."""
        self._entries += 1
        if self._entries > MAX_ENTRIES:
            return f"there are more than {MAX_ENTRIES} files; what follows in its folder was not looked at"
        return ""

    def _too_much(self, size: int) -> str:
        """Count a file's bytes; says so if they are too many."""
        self._bytes += size
        return f"all files together have more than {MAX_TOTAL // 10**9} GB" if self._bytes > MAX_TOTAL else ""


@dataclass(frozen=True)
class _Where:
    """How far a walk has got: what `Found` says of a place."""

    place: Place = ((),)
    unpacked: tuple[str, ...] = ()
    shown: str = ""

    def below(self, parts: tuple[str, ...], unpacked: tuple[str, ...], shown: str) -> "_Where":
        place = (*self.place[:-1], (*self.place[-1], *parts))
        return _Where(place, (*self.unpacked, *unpacked), f"{self.shown}{shown}")

    def folder(self) -> "_Where":
        return replace(self, shown=f"{self.shown}/")

    def zip(self) -> "_Where":
        """Inside the zip that stands here."""
        *before, last = self.place
        place = (*before, (*last[:-1], PurePosixPath(last[-1]).stem), ())
        unpacked = (*self.unpacked[:-1], PurePosixPath(self.unpacked[-1]).stem)
        return _Where(place, unpacked, f"{self.shown}: ")

    def found(
        self, time: datetime | None = None, problem: str = "", read: Callable[[], bytes] = bytes
    ) -> Found:
        return Found(self.place, self.shown, self.unpacked, time, problem, read)


def _is_left_behind(name: str) -> bool:
    return name in _OURS or name.startswith("._") or name in (".DS_Store", "Thumbs.db", "desktop.ini")


def _too_big(size: int) -> str:
    return f"it has {size / 1e6:.0f} MB; up to {MAX_BYTES // 10**6} MB are read" if size > MAX_BYTES else ""


def _problem_of(info: zipfile.ZipInfo, inner: PurePosixPath) -> str:
    """Why an entry of a zip is not used; nothing if it can be."""
    if inner.is_absolute() or ".." in inner.parts or (inner.parts and inner.parts[0].endswith(":")):
        return "its name in the zip leads out of the zip"
    if not inner.parts or "\0" in str(inner):
        return "it has no proper name in the zip"
    mode = info.external_attr >> 16
    if stat.S_ISLNK(mode):
        return "it is a link; links are not followed"
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        return "it is not an ordinary file"
    if info.flag_bits & _ENCRYPTED:
        return "it is encrypted"
    if info.file_size > _SUSPECT and info.file_size > MAX_RATIO * max(info.compress_size, 1):
        return f"it would unpack to more than {MAX_RATIO} times its size"
    return ""


def _read_file(path: Path) -> bytes:
    try:
        # Should a link have taken the file's place since: not followed.
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise UnreadableError(f"it cannot be opened: {error.strerror}") from None
    if problem := _too_big(len(data)):
        raise UnreadableError(problem)
    return data


def _read_entry(archive: zipfile.ZipFile, info: zipfile.ZipInfo, most: int) -> bytes:
    """An entry's bytes; what a zip says of their number is not believed."""
    try:
        with archive.open(info) as file:
            data = file.read(most + 1)
    except NotImplementedError:
        raise UnreadableError("it is packed in a way that Python cannot read") from None
    except Exception as error:  # zlib's and lzma's errors, a wrong checksum, a file cut off
        raise UnreadableError(f"it cannot be unpacked ({type(error).__name__})") from None
    if len(data) > most:
        raise UnreadableError(f"it has more than {most // 10**6} MB unpacked")
    return data


def _open_entry(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> zipfile.ZipFile:
    return zipfile.ZipFile(io.BytesIO(_read_entry(archive, info, MAX_ZIP)))


def _name_in_zip(info: zipfile.ZipInfo) -> str:
    """An entry's name. Many programs write UTF-8 and do not say so; zipfile reads code page 437 then."""
    name = info.orig_filename if isinstance(info.orig_filename, str) else info.filename
    if not info.flag_bits & _UTF_8:
        try:
            return name.encode("cp437").decode()
        except UnicodeError:
            return name
    return name


def _time_of(info: zipfile.ZipInfo) -> datetime | None:
    """When an entry was written: in UTC where the zip has that, else its local time taken for UTC."""
    extra = info.extra
    while len(extra) >= 4:
        kind, size = int.from_bytes(extra[:2], "little"), int.from_bytes(extra[2:4], "little")
        body = extra[4 : 4 + size]
        if kind == _EXTENDED_TIMESTAMP and len(body) >= 5 and body[0] & 1:
            return datetime.fromtimestamp(int.from_bytes(body[1:5], "little", signed=True), UTC)
        extra = extra[4 + size :]
    if info.date_time <= _NO_TIME:
        return None
    try:
        return datetime(*info.date_time, tzinfo=UTC)
    except ValueError:
        return None
