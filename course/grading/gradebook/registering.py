"""Tells the gradebook which cells the masters have, and what each is worth."""

import copy
import logging
from dataclasses import dataclass, field
from typing import Any

from nbgrader.api import (
    Assignment,
    BaseCell,
    Gradebook,
    GradeCell,
    Notebook,
    SolutionCell,
    SourceCell,
    TaskCell,
)
from nbgrader.converters import GenerateAssignment
from nbgrader.preprocessors import SaveCells
from nbgrader.utils import is_grade, is_locked, is_solution, is_task
from sqlalchemy import URL, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session
from traitlets.config import Config
from traitlets.utils.importstring import import_item

from course.grading.errors import GradingError
from course.grading.masters import Master

_quiet = logging.getLogger(f"{__name__}.nbgrader")  # a line a cell is more than an instructor reads
_quiet.setLevel(logging.WARNING)


@dataclass
class _Cells:
    """What the gradebook keeps of a notebook, by grade_id."""

    graded: dict[str, tuple[float, str]] = field(default_factory=dict)
    tasks: dict[str, tuple[float, str]] = field(default_factory=dict)
    solutions: set[str] = field(default_factory=set)
    sources: dict[str, tuple[str, bool, str, str | None]] = field(default_factory=dict)


def register(gradebook: Gradebook, masters: list[Master], settings: Config) -> None:
    """Make the gradebook's cells those of the masters; where they are, nothing is written.

    Raises GradingError if the gradebook holds submissions to a notebook that had other cells.
    """
    for master in masters:
        notebook, save = _prepared(master, settings)
        if _registered(gradebook.db, master) == _cells_of(notebook):
            continue
        url = gradebook.engine.url
        try:
            gradebook.update_or_create_assignment(master.assignment)
            names = {"notebook": master.name, "assignment": master.assignment, "db_url": url}
            save.preprocess(notebook, {"nbgrader": names})
        except SQLAlchemyError:
            raise
        except Exception as error:
            raise GradingError(
                f"The gradebook does not take the master {master.name}. If its cells changed since "
                f"the class was graded, {_way_out(url)} and grade again; grading.log has the details."
            ) from error
    gradebook.db.rollback()  # what nbgrader wrote through a connection of its own is read anew


def _way_out(url: URL) -> str:
    in_file = url.get_backend_name() == "sqlite"
    return "move gradebook.db away" if in_file else "name another database"


def _prepared(master: Master, settings: Config) -> tuple[Any, SaveCells]:
    """The master as nbgrader's `generate_assignment` has it when it saves the cells, and that step."""
    notebook, resources = copy.deepcopy(master.notebook), {"nbgrader": {"notebook": master.name}}
    for step in GenerateAssignment(config=settings).preprocessors:
        kind = import_item(step) if isinstance(step, str) else step
        preprocessor = kind(config=settings, log=_quiet)
        if isinstance(preprocessor, SaveCells):
            return notebook, preprocessor
        if preprocessor.enabled:
            notebook, resources = preprocessor.preprocess(notebook, resources)
    raise GradingError("nbgrader_config.py leaves SaveCells out of c.GenerateAssignment.preprocessors.")


def _cells_of(notebook: Any) -> _Cells:
    """The cells as nbgrader's SaveCells would save them."""
    cells = _Cells()
    for cell in notebook.cells:
        about = cell.metadata.get("nbgrader", {})
        if is_grade(cell):
            cells.graded[about["grade_id"]] = (float(about["points"]), cell.cell_type)
        if is_solution(cell):
            cells.solutions.add(about["grade_id"])
        if is_task(cell):
            cells.tasks[about["grade_id"]] = (float(about["points"]), cell.cell_type)
        if is_grade(cell) or is_solution(cell) or is_locked(cell) or is_task(cell):
            source = (cell.cell_type, is_locked(cell), cell.source, about.get("checksum"))
            cells.sources[about["grade_id"]] = source
    return cells


def _registered(db: Session, master: Master) -> _Cells | None:
    """The cells that the gradebook has; None if it does not know the notebook."""
    found = (
        select(Notebook.id)
        .join(Assignment)
        .where(Assignment.name == master.assignment, Notebook.name == master.name)
    )
    identifier = db.scalar(found)
    if identifier is None:
        return None
    cells = _Cells()
    for cell in db.scalars(select(BaseCell).where(BaseCell.notebook_id == identifier)):
        if isinstance(cell, GradeCell):
            cells.graded[cell.name] = (cell.max_score, cell.cell_type)
        elif isinstance(cell, TaskCell):
            cells.tasks[cell.name] = (cell.max_score, cell.cell_type)
        elif isinstance(cell, SolutionCell):
            cells.solutions.add(cell.name)
    for source in db.scalars(select(SourceCell).where(SourceCell.notebook_id == identifier)):
        cells.sources[source.name] = (source.cell_type, source.locked, source.source, source.checksum)
    return cells
