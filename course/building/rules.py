"""What a master must keep to, checked before anything is built from it."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from course.building.hidden_tests import HIDDEN_TESTS, HiddenTestsError, asked_in
from course.building.master import AUDIENCES, NBGRADER_DEFAULTS, grade_id_of

SOLUTION = "SOLUTION"
_FLAGS = ("grade", "locked", "solution", "task")
_KEYS = frozenset(NBGRADER_DEFAULTS) | {"grade_id", "points"}


def problems_in(cells: list[Any]) -> list[str]:
    """A sentence for each thing wrong with a master's cells: which cell, what, and what would be right."""
    problems = []
    times = Counter(map(grade_id_of, cells))
    for number, cell in enumerate(cells, start=1):
        grade_id = grade_id_of(cell)
        label = f"cell `{grade_id}`" if grade_id else f"cell {number} ({_opening(cell)})"
        problems += [f"{label}: {problem}" for problem in _problems_in_cell(cell)]
        if grade_id and times[grade_id] > 1:
            problems.append(f"{label}: the grade_id is used {times[grade_id]} times; each cell needs its own")
    return list(dict.fromkeys(problems))


def _opening(cell: Any) -> str:
    """A cell's kind and its first words, to find it by."""
    words = cell["source"].strip().split("\n")[0]
    return f"{cell['cell_type']}, “{words[:40]}”"


def _problems_in_cell(cell: Any) -> Iterator[str]:
    for key in sorted(set(cell["metadata"]) - {"nbgrader", "tags"}):
        yield f"unknown metadata `{key}`; a master's cells have `nbgrader` and `tags`"
    tags = cell["metadata"].get("tags", [])
    unknown = set(tags) - AUDIENCES if isinstance(tags, list) else {str(tags)}
    for tag in sorted(unknown):
        yield f"unknown tag `{tag}`; the tags are {_listed(sorted(AUDIENCES))}"
    nbgrader = cell["metadata"].get("nbgrader", {})
    if not isinstance(nbgrader, dict):
        yield "`nbgrader` is not a mapping; write its keys one a line below it, indented"
        return
    if "nbgrader" in cell["metadata"]:
        yield from _problems_in_metadata(nbgrader, tags if isinstance(tags, list) else [])
    in_markers = list(_problems_in_markers(cell, nbgrader))
    yield from in_markers
    if not in_markers and is_graded_test(nbgrader):
        try:
            asked_in(cell["source"])
        except HiddenTestsError as error:
            yield str(error)


def is_graded_test(nbgrader: dict[str, Any]) -> bool:
    """Whether a cell is graded by a check; a graded solution and a task are for a person."""
    return bool(nbgrader.get("grade")) and not nbgrader.get("solution") and not nbgrader.get("task")


def _problems_in_metadata(nbgrader: dict[str, Any], tags: list[str]) -> Iterator[str]:
    for key in sorted(set(nbgrader) - _KEYS):
        yield f"unknown key `{key}` under nbgrader; the keys are {_listed(sorted(_KEYS))}"
    grade_id = nbgrader.get("grade_id")
    # nbformat's own rule for a cell id, because the grade_id is the cell's id as well.
    if not isinstance(grade_id, str) or not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", grade_id):
        yield f"grade_id is {grade_id!r}; it must be 1 to 64 letters, digits, hyphens or underscores"
    for flag in _FLAGS:
        if not isinstance(nbgrader.get(flag, False), bool):
            yield f"{flag} is {nbgrader[flag]!r}; it must be true or false"
    if not any(nbgrader.get(flag) for flag in _FLAGS):
        yield f"nbgrader has nothing to do here; set one of {_listed(_FLAGS)} to true"
    if nbgrader.get("schema_version", 3) != 3:
        yield f"schema_version is {nbgrader['schema_version']!r}; it must be 3, or left out"
    points = nbgrader.get("points")
    if nbgrader.get("grade") or nbgrader.get("task"):
        if points is None:
            yield "points are missing; a graded cell needs `points:` with a number above 0"
        elif not _is_whole_or_half(points):
            yield f"points are {points!r}; they must be a whole or half number above 0"
    elif points is not None:
        yield "it has points but is not graded; set `grade: true` or take `points` away"
    if set(tags) & {"self-study-only"}:
        yield "a cell with nbgrader metadata cannot be self-study-only; take one of them away"


def _is_whole_or_half(points: object) -> bool:
    if isinstance(points, bool) or not isinstance(points, int | float):
        return False
    return points > 0 and points * 2 == int(points * 2)


def _problems_in_markers(cell: Any, nbgrader: dict[str, Any]) -> Iterator[str]:
    for kind, flag, home in ((SOLUTION, "solution", "solution"), (HIDDEN_TESTS, "grade", "graded test")):
        found, problem = _region(cell["source"], kind)
        if problem:
            yield problem
        elif found and not nbgrader.get(flag):
            yield f"### BEGIN {kind} outside a {home} cell; move it into one, or set `{flag}: true`"
        elif not found and kind == SOLUTION and nbgrader.get("solution"):
            yield "no solution in a solution cell; put it between ### BEGIN SOLUTION and ### END SOLUTION"


def _region(source: str, kind: str) -> tuple[bool, str | None]:
    """Whether a cell holds a marked region, and what is wrong with its markers."""
    found = inside = False
    for line in source.split("\n"):
        if f"BEGIN {kind}" in line:
            if inside:
                return (
                    True,
                    f"### BEGIN {kind} inside a region that is still open; close it with ### END {kind}",
                )
            found = inside = True
        elif f"END {kind}" in line:
            if not inside:
                return True, f"### END {kind} closes nothing; put ### BEGIN {kind} before it"
            inside = False
    return found, f"### BEGIN {kind} is never closed; put ### END {kind} after it" if inside else None


def _listed(words: Any) -> str:
    return ", ".join(f"`{word}`" for word in words)
