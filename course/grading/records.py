"""The log of what was graded: one JSON line a student's notebook, appended and never changed."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path


class Status(StrEnum):
    """How a notebook ended."""

    GRADED = "graded"
    FAILED = "failed"
    MISSING = "missing"


@dataclass(frozen=True)
class Record:
    """What came of one notebook of one student; `score` is None unless it was graded."""

    student: str
    assignment: str
    notebook: str
    status: Status
    score: float | None
    max_score: float
    problem: str
    submission_sha256: str | None
    master_sha256: str

    @property
    def key(self) -> tuple[str, str, str]:
        """Whose notebook it is."""
        return self.student, self.assignment, self.notebook


def latest(path: Path) -> dict[tuple[str, str, str], Record]:
    """The last record of each notebook; a line cut off by a killed run is passed over."""
    records: dict[tuple[str, str, str], Record] = {}
    if not path.exists():
        return records
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            fields = json.loads(line)
            record = Record(**fields | {"status": Status(fields["status"])})
        except (ValueError, TypeError, KeyError):
            continue
        records[record.key] = record
    return records


def append(path: Path, records: Iterable[Record]) -> None:
    """Write records at the end of the log."""
    with path.open("a+b") as log:
        if log.tell() and not _ends_with_newline(path):
            log.write(b"\n")
        for record in records:
            log.write(json.dumps(asdict(record), ensure_ascii=False).encode() + b"\n")


def _ends_with_newline(path: Path) -> bool:
    with path.open("rb") as log:
        log.seek(-1, 2)
        return log.read(1) == b"\n"
