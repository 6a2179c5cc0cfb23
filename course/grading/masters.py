"""The masters as grading needs them: their cells, what each asks for, and what students were handed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal

import nbformat

from course.building.hidden_tests import AskedCheck, HiddenTestsError, asked_in, parted
from course.building.master import grade_id_of
from course.building.rules import SOLUTION, is_graded_test
from course.building.versions import CODE_STUB
from course.files import notebooks_under, sha256
from course.grading.errors import GradingError

TEXT_STUB = "YOUR ANSWER HERE"  # nbgrader's own
MARK_SCHEME = "MARK SCHEME"  # of a task, for whoever grades it
_NO_STUB = "### NO STUB"


@dataclass(frozen=True)
class Test:
    """One graded cell.

    cell : its grade_id.
    points : all of them for a pass, none otherwise.
    kind : "check" and "answer" are judged here, "manual" is for a person.
    challenge, check : which check; None for the other kinds.
    functions : what the functions that the check calls are called in the notebook.
    question, answer : which question, and the variable that holds the answer; None for the other kinds.
    """

    __test__ = False  # pytest, too, looks for what is called so

    cell: str
    points: float
    kind: Literal["check", "answer", "manual"]
    challenge: str | None = None
    check: str | None = None
    functions: Mapping[str, str] = field(default_factory=dict)
    question: str | None = None
    answer: str | None = None

    @property
    def names(self) -> set[str]:
        """What the notebook has to define for it."""
        return {*self.functions.values(), *([self.answer] if self.answer else [])}


@dataclass(frozen=True)
class Master:
    """One notebook of an assignment, as nbgrader's source folder has it.

    data : the file itself.
    """

    assignment: str
    name: str
    notebook: Any
    sha256: str
    data: bytes

    @cached_property
    def cells(self) -> dict[str, Any]:
        """The cells nbgrader knows, by their grade_id, in the notebook's order."""
        return {name: cell for cell in self.notebook.cells if (name := grade_id_of(cell))}

    @cached_property
    def handed_out(self) -> frozenset[str]:
        """The texts of the cells that students get as they are."""
        cells = [
            cell for cell in self.notebook.cells if not cell.metadata.get("nbgrader", {}).get("solution")
        ]
        return frozenset(normalised(cell.source) for cell in cells)

    @property
    def max_score(self) -> float:
        """The points of all its graded cells."""
        return sum(test.points for test in self.tests)

    @cached_property
    def tests(self) -> tuple[Test, ...]:
        """What each graded cell asks for. Raises GradingError if one cannot be graded."""
        return plan(self.notebook, self.name)


@lru_cache(64)
def read_master(data: bytes, assignment: str, name: str) -> Master:
    """A master from its file.

    Raises GradingError if the file is no notebook.
    """
    try:
        notebook = nbformat.reads(data.decode(), as_version=4)  # type: ignore[no-untyped-call]
    except Exception as error:
        raise GradingError(
            f"The master {name} cannot be read: {error}. Build it again: course build."
        ) from error
    return Master(assignment, name, notebook, sha256(data), data)


def load_masters(folder: Path) -> list[Master]:
    """Every notebook in nbgrader's source folder that has something to grade.

    Raises GradingError if one of them cannot be graded, before anything is.
    """
    masters = [
        read_master(path.read_bytes(), path.parent.name, path.stem) for path in notebooks_under(folder)
    ]
    return [master for master in masters if master.tests]


def plan(notebook: Any, name: str) -> tuple[Test, ...]:
    """The graded cells of a master, in its order.

    Raises GradingError, naming the notebook and the cell, if one cannot be graded.
    """
    tests = [_test(cell, name) for cell in notebook.cells if _is_graded(cell)]
    cells = [test.cell for test in tests]
    for cell in cells:
        if cells.count(cell) > 1:
            raise GradingError(
                f"The master {name}: the grade_id `{cell}` is used twice; give each cell its own."
            )
    return tuple(tests)


def _is_graded(cell: Any) -> bool:
    nbgrader = cell.metadata.get("nbgrader", {})
    return bool(grade_id_of(cell) and (nbgrader.get("grade") or nbgrader.get("task")))


def _test(cell: Any, name: str) -> Test:
    nbgrader, grade_id = cell.metadata.nbgrader, str(grade_id_of(cell))
    points = nbgrader.get("points")
    if isinstance(points, bool) or not isinstance(points, int | float) or not 0 < points < float("inf"):
        raise GradingError(
            f"The master {name}, cell `{grade_id}`: points are {points!r}; they must be a number above 0."
        )
    if not is_graded_test(nbgrader):
        return Test(grade_id, float(points), "manual")
    try:
        asked = asked_in(cell.source)
    except HiddenTestsError as error:
        raise GradingError(f"The master {name}, cell `{grade_id}`: {error}.") from error
    if isinstance(asked, AskedCheck):
        functions = dict(asked.functions)
        return Test(grade_id, float(points), "check", asked.challenge, asked.check, functions)
    return Test(grade_id, float(points), "answer", question=asked.question, answer=asked.variable)


def released_text(cell: Any) -> str:
    """The text of a cell without what students must not see, as `nbgrader generate_assignment` makes it."""
    if not cell.metadata.nbgrader.get("solution"):
        return parted(parted(cell.source)[0], MARK_SCHEME)[0]
    stub = (CODE_STUB if cell.cell_type == "code" else TEXT_STUB).split("\n")
    lines: list[str] = []
    region: list[str] = []
    inside = found = False
    for line in cell.source.split("\n"):
        if f"BEGIN {SOLUTION}" in line:
            inside, found, region = True, True, [line]
        elif f"END {SOLUTION}" in line:
            inside = False
            indent = region[0][: len(region[0]) - len(region[0].lstrip())]
            if region[1:2] != [_NO_STUB]:
                lines += [indent + part for part in stub]
        else:
            (region if inside else lines).append(line)
    if not found and cell.metadata.nbgrader.get("grade"):  # nbgrader takes it all for the solution
        lines = stub
    return "\n".join(lines)


def is_released(cell: Any, source: str) -> bool:
    """Whether a text is a cell's as it was handed out; space at the ends of lines does not count."""
    return normalised(source) == normalised(released_text(cell))


def normalised(source: str) -> str:
    """A text without the space that editors add and take away."""
    return "\n".join(line.rstrip() for line in source.strip("\n").split("\n")).rstrip()
