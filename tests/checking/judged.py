"""A good file, limits that are short to wait for, and what is read from a result."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from course.checking.results import FileResult
from course.grading.limits import Limits

GOOD = (
    Path(__file__).parent.parent / "submissions" / "correct" / "generation_loop" / "while_loop.py"
).read_text()

# Enough for a check on a busy machine, and little to wait for where a loop has no end.
SHORT = Limits(call_seconds=4.0, checks_seconds=8.0, least_seconds=1.0)

Judge = Callable[..., list[FileResult]]


def statuses(result: FileResult) -> dict[str, str]:
    """The status of each check by its name."""
    return {check.name: check.status for check in result.checks}


def messages(result: FileResult) -> str:
    """All that is said of a file, without the line breaks of the layout."""
    return " ".join(" ".join(str(check.message) for check in result.checks).split())
