"""What each graded cell of a master asks for, read from it as data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from course.building.hidden_tests import AskedCheck, HiddenTestsError, asked_in
from course.building.master import grade_id_of
from course.building.rules import is_graded_test
from course.grading.errors import GradingError


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
