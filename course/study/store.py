"""The file that progress is kept in, on the reader's own machine: read, added to, moved aside."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from platformdirs import user_data_path

from course.files import write_atomically

FOLDER_VARIABLE = "AUTOREGRESSIVE_GENERATION_DATA"  # another folder than the reader's own, for tests
COURSE = "autoregressive-generation"
FORMAT = 1
PATIENCE = 5.0  # seconds to wait for another kernel that is writing


@dataclass(frozen=True)
class Entry:
    """Something passed: its points, and the first time that it was, as ISO 8601 in UTC."""

    points: float
    when: str


@dataclass(frozen=True)
class Answer:
    """A right answer in words, and a digest of the question that it was given to."""

    asked: str
    text: str


@dataclass(frozen=True)
class Kept:
    """What is kept.

    entries : by key, "generation_loop/greedy" for a check and "question/one-draw" for a question.
    answers : of those questions that were answered since answers are kept, by the same key.
    notes : sentences that the reader must be told, if something did not go as it should.
    """

    entries: Mapping[str, Entry] = field(default_factory=dict)
    answers: Mapping[str, Answer] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


class _ForeignFileError(Exception):
    """The file holds something that this version of the course did not write."""


def progress_file() -> Path:
    """Where progress is kept."""
    folder = os.environ.get(FOLDER_VARIABLE)
    return (Path(folder) if folder else user_data_path(COURSE, appauthor=False)) / "progress.json"


def read() -> Kept:
    """What is kept. A file that cannot be understood is moved aside, and a note says so; never raises."""
    path = progress_file()
    try:
        return _read(path)
    except OSError as error:
        return Kept(notes=(f"Progress could not be read: {_reason(error)}.",))


def add(key: str, points: float, answer: Answer | None = None) -> Kept:
    """Keep that something was passed, beside what is kept already; the first time counts. Never raises.

    answer : to a question; one to another wording of the question takes the place of the earlier one.
    """
    path = progress_file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _locked(path):  # another kernel may have added something since this one last looked
            kept = _read(path)
            before = kept.answers.get(key)
            if key in kept.entries and (answer is None or before is None or before.asked == answer.asked):
                return kept
            when = datetime.now(UTC).isoformat(timespec="seconds")
            entries = {**kept.entries, key: Entry(points, when)}
            answers = {**kept.answers, **({key: answer} if answer else {})}
            _write(path, entries, answers)
            return Kept(entries, answers, kept.notes)
    except OSError as error:
        kept = read()
        return replace(kept, notes=(*kept.notes, f"Progress could not be kept: {_reason(error)}."))


def move_aside() -> Path | None:
    """Take the file out of the way without losing it. Where it is now, or None if there was none.

    Raises OSError where it cannot be moved.
    """
    path = progress_file()
    if not path.exists():
        return None
    with _locked(path):
        return _moved_aside(path)


def shown(path: Path) -> str:
    """A path without the name of the reader's home folder, so that a shared notebook does not tell it."""
    try:
        return f"~/{path.relative_to(Path.home()).as_posix()}"
    except (ValueError, RuntimeError):  # elsewhere, or there is no home folder
        return path.as_posix()


def _read(path: Path) -> Kept:
    try:
        return _kept(path.read_bytes())
    except FileNotFoundError:
        return Kept()
    except _ForeignFileError:
        aside = _moved_aside(path)
        return Kept(
            notes=(f"The progress file could not be understood; it is kept as {shown(aside)}, unchanged.",)
        )


def _kept(data: bytes) -> Kept:
    try:
        content: Any = json.loads(data)
        if content["format"] != FORMAT or content["course"] != COURSE:
            raise _ForeignFileError
        entries = {str(key): Entry(**entry) for key, entry in content["passed"].items()}
        answers = {str(key): Answer(**answer) for key, answer in content.get("answers", {}).items()}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise _ForeignFileError from error
    if not all(isinstance(e.points, int | float) and isinstance(e.when, str) for e in entries.values()):
        raise _ForeignFileError
    return Kept(entries, answers)


def _write(path: Path, entries: Mapping[str, Entry], answers: Mapping[str, Answer]) -> None:
    passed = {key: vars(entry) for key, entry in entries.items()}
    content: dict[str, Any] = {"format": FORMAT, "course": COURSE, "passed": passed}
    if answers:  # in a place of their own, so that an earlier version of the course reads the rest
        content["answers"] = {key: vars(answer) for key, answer in answers.items()}
    text = json.dumps(content, indent=1)
    write_atomically(path, f"{text}\n".encode())


def _moved_aside(path: Path) -> Path:
    stamp = datetime.now().strftime("%Y-%m-%d-%H%M%S")
    aside, number = path.with_name(f"progress-until-{stamp}.json"), 1
    while aside.exists():
        number += 1
        aside = path.with_name(f"progress-until-{stamp}-{number}.json")
    return path.rename(aside)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the file for this process. The system lets go of it when the process ends, however it ends."""
    lock = FileLock(path.with_suffix(".lock"), timeout=PATIENCE, poll_interval=0.02)
    try:
        lock.acquire()
    except Timeout:
        raise TimeoutError("another notebook holds the progress file") from None
    try:
        yield
    finally:
        lock.release()


def _reason(error: OSError) -> str:
    """In the system's words, without the path that it names."""
    return (error.strerror or str(error)).lower()
