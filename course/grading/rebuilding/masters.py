"""The masters as grading needs them: which cells a notebook must have, and what each is worth."""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import nbformat

from course.building.master import grade_id_of
from course.files import notebooks_under, sha256
from course.grading.errors import GradingError
from course.grading.rebuilding.plan import Test, plan
from course.grading.rebuilding.released import normalised


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
