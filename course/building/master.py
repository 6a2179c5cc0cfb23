"""What a master is: one section as a notebook, and what nbgrader knows of its cells."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

AUDIENCES = frozenset({"release-only", "self-study-only"})
NBGRADER_DEFAULTS = {"grade": False, "locked": False, "schema_version": 3, "solution": False, "task": False}


class MasterError(Exception):
    """Masters that cannot be built; `str` gives a sentence a line: file, cell, and what would be right."""


@dataclass(frozen=True)
class Master:
    """One section: its assignment (its folder), its name, and its notebook with the tags still in place."""

    assignment: str
    name: str
    notebook: Any

    @property
    def path(self) -> Path:
        """Where its notebooks lie within an assignments' folder."""
        return Path(self.assignment) / f"{self.name}.ipynb"


def grade_id_of(cell: Any) -> str | None:
    """The name nbgrader knows a cell by, if it knows it."""
    nbgrader = cell["metadata"].get("nbgrader")
    return nbgrader.get("grade_id") if isinstance(nbgrader, dict) else None
