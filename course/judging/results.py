"""How a file was judged, in plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from course.checks.check import Check

Status = Literal["passed", "failed", "error", "timeout"]
STATUSES: tuple[Status, ...] = get_args(Status)


@dataclass(frozen=True)
class CheckOutcome:
    """How one check ended on one file.

    status : "passed", "failed" (a wrong answer), "error" (the code raised, died, or could not be judged) or
        "timeout".
    misconception : id in the catalogue, where the slip was recognised.
    message : for the student; empty after a pass.
    """

    name: str
    function: str
    points: int
    max_points: int
    status: Status
    misconception: str | None
    message: str

    @classmethod
    def of(
        cls, check: Check, status: Status, misconception: str | None = None, message: str = ""
    ) -> CheckOutcome:
        """The outcome of a check, with the points that belong to it: they never come from the file."""
        points = check.points if status == "passed" else 0
        return cls(check.name, check.function, points, check.points, status, misconception, message)

    @classmethod
    def of_file(cls, message: str) -> CheckOutcome:
        """What stands for the checks of a file whose challenge is not known."""
        return cls("file", "", 0, 0, "error", None, message)


@dataclass(frozen=True)
class FileResult:
    """One file.

    file : its name as it was given.
    challenge : None where it is not known.
    judged : whether the checks had their say. A file that cannot be imported was judged, and has no points;
        one that cannot be read, or whose challenge is not known, was not.
    """

    file: str
    challenge: str | None
    checks: tuple[CheckOutcome, ...]
    judged: bool = True

    @property
    def points(self) -> int:
        """The points of all checks that passed."""
        return sum(check.points for check in self.checks)

    @property
    def max_points(self) -> int:
        """The points of all checks."""
        return sum(check.max_points for check in self.checks)

    def as_json(self) -> dict[str, Any]:
        """The object that `course check --json` prints."""
        return {
            "file": self.file,
            "challenge": self.challenge,
            "points": self.points,
            "max_points": self.max_points,
            "checks": [asdict(check) for check in self.checks],
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> FileResult:
        """The inverse of `dataclasses.asdict`."""
        checks = tuple(CheckOutcome(**check) for check in plain["checks"])
        return cls(plain["file"], plain["challenge"], checks, plain["judged"])
