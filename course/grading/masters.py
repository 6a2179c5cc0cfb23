"""The masters as grading needs them: which cells a notebook must have, and what each is worth."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat

from course.building.master import grade_id_of
from course.files import notebooks_under, sha256


@dataclass(frozen=True)
class Master:
    """One notebook of an assignment, as nbgrader's source folder has it."""

    assignment: str
    name: str
    notebook: Any
    sha256: str

    @property
    def cells(self) -> dict[str, Any]:
        """The cells nbgrader knows, by their grade_id, in the notebook's order."""
        return {name: cell for cell in self.notebook.cells if (name := grade_id_of(cell))}

    @property
    def max_score(self) -> float:
        """The points of all its graded cells."""
        return float(sum(cell.metadata.nbgrader.get("points", 0) for cell in self.cells.values()))


def load_masters(folder: Path) -> list[Master]:
    """Every notebook in nbgrader's source folder that has something to grade."""
    masters = []
    for path in notebooks_under(folder):
        data = path.read_bytes()
        notebook = nbformat.reads(data.decode(), as_version=4)  # type: ignore[no-untyped-call]
        masters.append(Master(path.parent.name, path.stem, notebook, sha256(data)))
    return [master for master in masters if master.max_score]
