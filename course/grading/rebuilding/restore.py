"""Puts a student's cells back into the master's frame: what was copied, deleted or edited cannot matter."""

import copy
import json
from dataclasses import dataclass
from typing import Any

from course.building.hidden_tests import parted
from course.building.nodes import node
from course.grading.errors import SubmissionError
from course.grading.masters import Master, is_released, normalised, released_text
from course.grading.rebuilding.code import names_defined
from course.grading.records import Finding
from course.grading.submissions.parse import SubmittedCell, SubmittedNotebook

_COMPARED = ("points", "grade", "solution", "task", "schema_version")


@dataclass(frozen=True)
class RebuiltCell:
    """One cell of the notebook to grade.

    node : the cell as it stands in the graded notebook.
    grade_id : the master's name of it; None for one of the student's own.
    code : what of it is run; None for text, and for a stub that was put back.
    """

    node: Any
    grade_id: str | None = None
    code: str | None = None

    @property
    def is_test(self) -> bool:
        """Whether it is the master's and its points are ours to give."""
        nbgrader = self.node.metadata.get("nbgrader", {})
        return bool(nbgrader.get("grade")) and not nbgrader.get("solution")

    @property
    def is_solution(self) -> bool:
        """Whether its place is for the student's answer."""
        return bool(self.node.metadata.get("nbgrader", {}).get("solution"))

    @property
    def is_students(self) -> bool:
        """Whether its text is the student's."""
        return self.grade_id is None or self.is_solution


@dataclass(frozen=True)
class Rebuilt:
    """The notebook to grade, and what was put right in it."""

    cells: list[RebuiltCell]
    findings: list[Finding]


def restored(notebook: SubmittedNotebook, master: Master) -> Rebuilt:
    """The notebook to grade.

    Solutions and the student's own cells come from the submission, in its order; all else comes from the
    master. Whatever a cell defines counts, wherever it stands: a solution that was copied, split, or joined
    with another cell is run in full, and so is what was written into a cell that is not for writing. A stub
    that is put back in place of a solution is not run, for it would take the place of what stands elsewhere.

    Raises SubmissionError if no solution cell is there, and nothing of what is asked for in other cells.
    """
    work = _Restoring(notebook.cells, master)
    findings = [*work.findings]
    if notebook.language != "python":
        findings.append(_repair(f"The notebook's kernel was one for {notebook.language}; it ran as Python."))
    return Rebuilt(work.cells, findings)


class _Restoring:
    """One notebook, cell by cell.

    names : for each submitted cell, which of the master's it is, or None.
    kept : for each of the master's cells that is there, the place of the copy that counts.
    """

    def __init__(self, submitted: list[SubmittedCell], master: Master) -> None:
        self._submitted, self._master = submitted, master
        self.cells: list[RebuiltCell] = []
        self.findings: list[Finding] = []
        self._names = [self._name_of(cell) for cell in submitted]
        self._kept = {name: self._choose(name) for name in dict.fromkeys(self._names) if name}
        for index, name in enumerate(self._names):
            if name is None:
                self._add_own(index)
            elif self._kept[name] != index:
                self._add_copy(index, name)
            elif _is_solution(master.cells[name]):
                self._add_solution(index, name)
            else:
                self._add_masters(index, name)
        for name in self._kept:
            if self._names.count(name) > 1:
                self._tell(f"{name} is there more than once; the last one that was worked on is graded.")
        self._require_something()
        self._put_back()
        solutions = [name for name in self._kept if _is_solution(master.cells[name])]
        if solutions and all(is_released(master.cells[name], self._text_of(name)) for name in solutions):
            text = "Nothing was written: every solution cell is as it was handed out."
            self.findings.append(Finding("note", text))

    def _text_of(self, name: str) -> str:
        return self._submitted[self._kept[name]].source

    def _name_of(self, cell: SubmittedCell) -> str | None:
        # Some editors drop the metadata and keep the cell's id, which the build makes the same.
        name = cell.grade_id or cell.id
        return name if name in self._master.cells else None

    def _choose(self, name: str) -> int:
        """Which copy of a cell counts: the last, as it would be the last to run, but for untouched stubs."""
        places = [index for index, found in enumerate(self._names) if found == name]
        known = self._master.cells[name]
        touched = [index for index in places if not is_released(known, self._submitted[index].source)]
        return (touched or places)[-1] if _is_solution(known) else places[-1]

    def _add_own(self, index: int) -> None:
        cell = self._submitted[index]
        self.cells.append(_own(f"student-{index}", cell.kind, cell.source))

    def _add_copy(self, index: int, name: str) -> None:
        cell, known = self._submitted[index], self._master.cells[name]
        if not is_released(known, cell.source):
            self.cells.append(_own(f"student-{index}", known.cell_type, cell.source))

    def _add_solution(self, index: int, name: str) -> None:
        cell = self._submitted[index]
        filled = copy.deepcopy(self._master.cells[name])
        filled.source = cell.source
        self._compare_metadata(cell, name)
        self.cells.append(RebuiltCell(filled, name, cell.source if filled.cell_type == "code" else None))

    def _add_masters(self, index: int, name: str) -> None:
        """One of the master's own cells; what was written into it runs before it, as the student's."""
        cell, known = self._submitted[index], self._master.cells[name]
        self._compare_metadata(cell, name)
        if normalised(parted(cell.source)[0]) != normalised(released_text(known)):
            self._tell(f"{name} had been edited; the original was put back.")
            if cell.source.strip():
                self.cells.append(_own(f"student-{index}", known.cell_type, cell.source))
        self.cells.append(_masters(known, name))

    def _compare_metadata(self, cell: SubmittedCell, name: str) -> None:
        known = self._master.cells[name]
        if cell.kind != known.cell_type:
            self._tell(f"{name} had been turned into a {cell.kind} cell; it counts as {known.cell_type}.")
        for key in _COMPARED:
            right = known.metadata.nbgrader.get(key)
            if key in cell.nbgrader and cell.nbgrader[key] != right:
                self._tell(
                    f"{name}: `{key}` had been changed to {_shown(cell.nbgrader[key])}; "
                    f"{_shown(right)} counts."
                )

    def _require_something(self) -> None:
        """Refuse a notebook in which there is nothing to judge: it is a wrong file rather than a zero."""
        solutions = [name for name, cell in self._master.cells.items() if _is_solution(cell)]
        if any(name in self._kept for name in solutions):
            return
        asked = sorted({name for test in self._master.tests for name in test.names})
        defined = {name for cell in self.cells if cell.is_students for name in names_defined(cell.code or "")}
        if defined & set(asked):
            return
        what = f"no cell defines {' or '.join(asked)}" if asked else "it has nothing to grade"
        if not self._kept:
            raise SubmissionError(f"None of the cells of this notebook is in the file, and {what}.")
        if solutions:
            cells, are = ("cells", "are") if len(solutions) > 1 else ("cell", "is")
            raise SubmissionError(
                f"The solution {cells} {', '.join(solutions)} {are} not in the notebook, and {what}."
            )

    def _put_back(self) -> None:
        """Insert the master's cells that are gone, each behind the one it follows in the master."""
        names = list(self._master.cells)
        gone = [name for name in names if name not in self._kept]
        for name in gone:
            before = set(names[: names.index(name)])
            places = [index for index, cell in enumerate(self.cells) if cell.grade_id in before]
            place = places[-1] + 1 if places else 0
            self.cells.insert(place, _masters(self._master.cells[name], name))
        if not self._kept:
            self._tell(
                "None of the cells of this notebook is in the file, perhaps because their metadata were "
                "lost; what the file defines is graded."
            )
            return
        for name in gone:
            if _is_solution(self._master.cells[name]):
                self._tell(
                    f"The solution cell {name} is not in the notebook; what other cells define counts."
                )
            else:
                self._tell(f"{name} had been deleted and was put back.")

    def _tell(self, text: str) -> None:
        self.findings.append(_repair(text))


def _is_solution(cell: Any) -> bool:
    return bool(cell.metadata.nbgrader.get("solution"))


def _repair(text: str) -> Finding:
    return Finding("repair", text)


def _masters(cell: Any, name: str) -> RebuiltCell:
    """A cell of the master as it is; of a solution, the stub, which is not run."""
    cell = copy.deepcopy(cell)
    if _is_solution(cell):
        cell.source = released_text(cell)
        return RebuiltCell(cell, name)
    return RebuiltCell(cell, name, parted(cell.source)[0] if cell.cell_type == "code" else None)


def _own(cell_id: str, kind: str, source: str) -> RebuiltCell:
    data: dict[str, Any] = {"cell_type": kind, "id": cell_id, "metadata": {}, "source": source}
    if kind == "code":
        data |= {"execution_count": None, "outputs": []}
    return RebuiltCell(node(data), code=source if kind == "code" else None)


def _shown(value: object) -> str:
    """A value from the submission's metadata, short enough for a sentence."""
    text = json.dumps(value) if isinstance(value, str | int | float | None) else "something else"
    return text if len(text) <= 40 else text[:40] + "..."
