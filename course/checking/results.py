"""How a file was judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from course.checks.check import CheckResult


@dataclass(frozen=True)
class FileResult:
    """One file.

    file : its name as it was given.
    challenge : None where it is not known.
    checks : how each of them ended; a single one without a challenge where that is not known.
    judged : whether the checks had their say. A file that cannot be imported was judged, and has no points;
        one that cannot be read, or whose challenge is not known, was not.
    note : what else is to be known of the run, in a sentence; "" where it was in the sandbox.
    """

    file: str
    challenge: str | None
    checks: tuple[CheckResult, ...]
    judged: bool = True
    note: str = ""

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
            "checks": [_as_json(check) for check in self.checks],
            "note": self.note,
        }


def _as_json(check: CheckResult) -> dict[str, Any]:
    return {
        "name": check.name,
        "function": check.function,
        "points": check.points,
        "max_points": check.max_points,
        "status": check.status,
        "misconception": check.misconception,
        "message": str(check.message),
    }
