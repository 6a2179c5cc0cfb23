"""Puts a student's cells back into the master's frame: what was copied, deleted or edited cannot matter."""

import copy
from typing import Any

from course.building.nodes import node
from course.grading.errors import SubmissionError
from course.grading.intake import SubmittedCell
from course.grading.masters import Master


def restored(cells: list[SubmittedCell], master: Master) -> tuple[Any, list[str]]:
    """The notebook to grade, and a note for each repair.

    Solutions and the student's own cells come from the submission, in its order; tests, metadata and kernel
    come from the master. Of a cell that is there several times the last is graded, as it would be the last
    to run; the earlier copies stay as the student's own cells if they are solutions.

    Raises SubmissionError if a solution cell is gone.
    """
    last = {cell.grade_id or "": index for index, cell in enumerate(cells) if cell.grade_id in master.cells}
    gone = [name for name in master.cells if name not in last]
    if lost := [name for name in gone if _is_solution(master.cells[name])]:
        raise SubmissionError(f"The solution cell {', '.join(lost)} is not in the notebook.")
    out: list[Any] = []
    copies: list[str] = []
    for index, cell in enumerate(cells):
        known = master.cells.get(cell.grade_id or "")
        if known is None:
            out.append(_own_cell(cell, index))
        elif last[cell.grade_id or ""] == index:
            out.append(_filled_in(known, cell.source))
        else:
            copies.append(str(cell.grade_id))
            if _is_solution(known):
                out.append(_own_cell(cell, index))
    _put_back(out, gone, master)
    notes = [f"{name} is there more than once; the last one is graded." for name in dict.fromkeys(copies)]
    notes += [f"{name} had been deleted and was put back." for name in gone]
    frame = copy.deepcopy(master.notebook)
    frame.cells = out
    return frame, notes


def _is_solution(cell: Any) -> bool:
    return bool(cell.metadata.nbgrader.solution)


def _filled_in(cell: Any, source: str) -> Any:
    """A copy of a master's cell, with what the student wrote if it is a solution."""
    cell = copy.deepcopy(cell)
    if _is_solution(cell):
        cell.source = source
    return cell


def _put_back(cells: list[Any], gone: list[str], master: Master) -> None:
    """Insert the master's cells that are gone, each behind the one it follows in the master."""
    names = list(master.cells)
    for name in gone:
        before = set(names[: names.index(name)])
        places = [index for index, cell in enumerate(cells) if cell["id"] in before]
        cells.insert(places[-1] + 1 if places else 0, copy.deepcopy(master.cells[name]))


def _own_cell(cell: SubmittedCell, index: int) -> Any:
    data: dict[str, Any] = {
        "cell_type": cell.kind,
        "id": f"student-{index}",
        "metadata": {},
        "source": cell.source,
    }
    if cell.kind == "code":
        data |= {"execution_count": None, "outputs": []}
    return node(data)
