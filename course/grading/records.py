"""What came of one notebook, and the log of it: one JSON line for each, appended and never changed."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal

from course.checks.message import NO_MESSAGE, Message

Key = tuple[str, str, str]


class Status(StrEnum):
    """How a notebook ended."""

    GRADED = "graded"
    NEEDS_PERSON = "needs a person"
    FAILED = "failed"
    MISSING = "missing"


@dataclass(frozen=True)
class CellResult:
    """How one graded cell ended.

    cell : its grade_id.
    name : of its check, or "question 4".
    challenge : None for a question, and for a cell that a person grades.
    points : None where a person has to give them.
    status : "error" where the student's code raised, ran too long or ended its process; "manual" where a
        person has to look.
    misconception : id in the catalogue, where the slip was recognised.
    message : for the student; empty after a pass.
    """

    cell: str
    name: str
    challenge: str | None
    points: float | None
    max_points: float
    status: Literal["passed", "failed", "error", "manual"]
    misconception: str | None = None
    message: Message = NO_MESSAGE

    def __post_init__(self) -> None:
        """Take the message as a journal holds it as well: in plain fields, or as text."""
        if not isinstance(self.message, Message):
            object.__setattr__(self, "message", Message.from_plain(self.message))


@dataclass(frozen=True)
class Finding:
    """Something about a submission that is worth telling, in a sentence.

    kind : "repair" for what grading put right, "note" for what it left alone, "problem" for a cell that did
        not run as it should, "suspicious" for what looks like tampering.
    """

    kind: Literal["repair", "note", "problem", "suspicious"]
    text: str


@dataclass(frozen=True)
class Record:
    """What came of one notebook of one student, in plain data.

    score : points of the cells that have been graded; None where the notebook failed or is missing.
    problem : why it is failed or missing; empty otherwise.
    submission_sha256, master_sha256, checks_sha256 : what it was graded from, and with; the last covers the
        checks, the questions, the code that marks, `coursework`, `decoder_lib` and the seed.
    handed_in : when, as nbgrader's collect wrote it down.
    """

    student: str
    assignment: str
    notebook: str
    status: Status
    score: float | None
    max_score: float
    problem: str = ""
    cells: tuple[CellResult, ...] = ()
    findings: tuple[Finding, ...] = ()
    submission_sha256: str | None = None
    master_sha256: str = ""
    checks_sha256: str = ""
    handed_in: str | None = field(default=None)

    @property
    def key(self) -> Key:
        """Whose notebook it is."""
        return self.student, self.assignment, self.notebook

    @classmethod
    def from_plain(cls, fields: dict[str, Any]) -> "Record":
        """A record from what `asdict` made of it. TypeError, KeyError or ValueError if it is no record."""
        return cls(
            **fields
            | {
                "status": Status(fields["status"]),
                "cells": tuple(CellResult(**cell) for cell in fields["cells"]),
                "findings": tuple(Finding(**finding) for finding in fields["findings"]),
            }
        )


def latest(path: Path) -> dict[Key, Record]:
    """The last record of each notebook; a line cut off by a killed run is passed over."""
    records: dict[Key, Record] = {}
    if not path.exists():
        return records
    with path.open("rb") as log:
        for line in log:  # a file of bytes ends its lines at line feeds alone, and no JSON string holds one
            try:
                record = Record.from_plain(json.loads(line.decode(errors="replace")))
            except (ValueError, TypeError, KeyError, RecursionError):
                continue
            records[record.key] = record
    return records


def append(path: Path, records: Iterable[Record]) -> None:
    """Write records at the end of the log.

    The lines are ASCII, so that every character is read as it was written, half a surrogate pair included.
    """
    with path.open("a+b") as log:
        if log.tell() and not _ends_with_newline(path):
            log.write(b"\n")
        for record in records:
            log.write(json.dumps(asdict(record)).encode("ascii") + b"\n")


def _ends_with_newline(path: Path) -> bool:
    with path.open("rb") as log:
        log.seek(-1, 2)
        return log.read(1) == b"\n"
