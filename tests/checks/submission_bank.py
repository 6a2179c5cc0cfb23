"""The bank of solutions in tests/submissions: one small file each, wrong ones with a header."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from course.checks import CheckResult, DirectCandidate, checks_of, run_check

SUBMISSIONS = Path(__file__).parent.parent / "submissions"


@dataclass(frozen=True)
class WrongSolution:
    """A solution with one slip.

    misconception : id in the catalogue; None for a slip that is not in it.
    fails_first : the first check it fails, which must name the misconception.
    fails : every check it fails.
    """

    path: Path
    misconception: str | None
    fails_first: str
    fails: frozenset[str]


def functions(path: Path) -> dict[str, Callable[..., Any]]:
    """The functions that a file of the bank defines."""
    namespace: dict[str, Any] = {"__name__": path.stem}
    exec(compile(path.read_text(), path.name, "exec", dont_inherit=True), namespace)
    return {name: value for name, value in namespace.items() if callable(value)}


def correct(challenge: str) -> list[Path]:
    """The right solutions of a challenge."""
    return sorted((SUBMISSIONS / "correct" / challenge).glob("*.py"))


def wrong(challenge: str) -> list[WrongSolution]:
    """The wrong solutions of a challenge. KeyError where a header lacks a line."""
    solutions = []
    for path in sorted((SUBMISSIONS / "misconceptions" / challenge).glob("*.py")):
        header = dict(
            re.findall(r"^# (misconception|fails first|fails): (.+)$", path.read_text(), re.MULTILINE)
        )
        misconception = None if header["misconception"] == "None" else header["misconception"]
        fails = frozenset(header["fails"].split(", "))
        solutions.append(WrongSolution(path, misconception, header["fails first"], fails))
    return solutions


def grade(challenge: str, solution: dict[str, Callable[..., Any]], seed: int) -> list[CheckResult]:
    """All checks of a challenge on one solution, in order."""
    candidate = DirectCandidate(solution)
    return [run_check(check, candidate, seed) for check in checks_of(challenge)]


def assert_full_marks(challenge: str, path: Path, seed: int) -> None:
    """A right solution passes every check."""
    results = grade(challenge, functions(path), seed)
    assert [str(result.message) for result in results if result.status != "passed"] == []
    assert sum(result.points for result in results) == sum(check.points for check in checks_of(challenge))


def assert_loses_what_it_breaks(challenge: str, solution: WrongSolution, seed: int) -> None:
    """A wrong solution fails the checks in its header and no other, and is told which slip it is."""
    results = grade(challenge, functions(solution.path), seed)
    lost = [result for result in results if result.status != "passed"]
    assert {result.name for result in lost} == solution.fails
    assert (lost[0].name, lost[0].misconception) == (solution.fails_first, solution.misconception)
    called = {check.function for check in checks_of(challenge)}
    for result in lost:
        assert result.points == 0
        assert any(f"{function}(" in str(result.message) for function in called)  # the smallest failing input
        assert "expected: " in str(result.message)
        assert "got: " in str(result.message)
        assert "course" not in str(result.message)  # no path, no source
        assert len(str(result.message)) < 1_500


def assert_covers_the_catalogue(challenge: str, letter: str, rows: int) -> None:
    """Every row of the catalogue, named by a letter and a number, has a wrong solution."""
    solutions = wrong(challenge)
    assert {solution.misconception for solution in solutions} >= {f"{letter}{i}" for i in range(1, rows + 1)}
    names = {check.name for check in checks_of(challenge)}
    assert all(solution.fails_first in solution.fails <= names for solution in solutions)
