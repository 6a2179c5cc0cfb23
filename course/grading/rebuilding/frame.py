"""The notebook that comes of grading: the rebuilt one with its outputs, or the frame of one that failed."""

import copy
from collections.abc import Iterable, Mapping
from typing import Any

from course.building.nodes import markdown_cell, node
from course.checks import NotPassedError
from course.grading.masters import Master, released_text
from course.grading.rebuilding.restore import RebuiltCell
from course.grading.records import CellResult
from course.text import lines, storable
from coursework.origin import to_bytes

MAX_BYTES = 20_000_000
_LEFT_OUT = "[The output was left out: with it the notebook would be too large.]\n"


def graded_notebook(
    master: Master,
    cells: list[RebuiltCell],
    outputs: Mapping[int, list[Any]],
    results: Iterable[CellResult],
) -> bytes:
    """The notebook as it was graded.

    outputs : of each cell that displayed something, by its place; cleaned already.
    results : what the graded cells show.
    """
    by_cell = {result.cell: result for result in results}
    notebook = _without_cells(master)
    for index, cell in enumerate(cells):
        if cell.node.cell_type == "code":
            result = by_cell.get(cell.grade_id or "") if cell.is_test else None
            shown = [_verdict(result)] if result else [] if cell.is_test else outputs.get(index, [])
            cell.node.outputs, cell.node.execution_count = shown, None
        notebook.cells.append(cell.node)
    _shorten(notebook)
    return to_bytes(notebook)


def failed_notebook(master: Master, problem: str) -> bytes:
    """The master's frame below a cell that says why there is nothing in it, for an instructor to mark."""
    notebook = _without_cells(master)
    text = (
        f"## Not graded\n\n{_as_text(problem)}\n\nThis is not a zero. Below is the notebook without answers."
    )
    notebook.cells.append(markdown_cell(text, "not-graded"))
    for original in master.notebook.cells:
        cell = copy.deepcopy(original)
        if cell.metadata.get("nbgrader", {}).get("solution"):
            cell.source = released_text(cell)
        notebook.cells.append(cell)
    return to_bytes(notebook)


def text_output(text: str, stream: str = "stdout") -> Any:
    """An output of plain text."""
    return node({"output_type": "stream", "name": stream, "text": text})


def error_output(name: str, message: str) -> Any:
    """An output that shows as an error, without a line of code."""
    told = lines(message) or [""]
    return node({"output_type": "error", "ename": name, "evalue": told[0], "traceback": told})


def _size_of(outputs: list[Any]) -> int:
    """About how many characters outputs take in a file."""
    return sum(len(str(output)) for output in outputs)


def _without_cells(master: Master) -> Any:
    notebook = copy.copy(master.notebook)
    notebook.cells = []
    return notebook


def _verdict(result: CellResult) -> Any:
    """What a graded cell shows, in the words of `course.checks.require`."""
    unit = "point" if result.max_points == 1 else "points"
    if result.status == "passed":
        return text_output(f"passed: {result.name} ({result.max_points:g} {unit})\n")
    head = f"{result.name} (0 of {result.max_points:g} {unit})"
    return error_output(NotPassedError.__name__, storable(f"{head}\n{result.message}"))


def _shorten(notebook: Any) -> None:
    """Leave out the largest outputs, until the notebook is not too large."""
    with_outputs = [cell for cell in notebook.cells if cell.get("outputs")]
    sizes = {id(cell): _size_of(cell.outputs) for cell in with_outputs}
    total = sum(sizes.values()) + sum(len(cell.source) for cell in notebook.cells)
    for cell in sorted(with_outputs, key=lambda cell: sizes[id(cell)], reverse=True):
        if total <= MAX_BYTES:
            break
        cell.outputs = [text_output(_LEFT_OUT)]
        total -= sizes[id(cell)]


def _as_text(problem: str) -> str:
    """A sentence for a Markdown cell; what a file is called must not become markup there."""
    return "".join(f"\\{c}" if c in "\\`*_{}[]<>()#!|~$&" else c for c in storable(problem))
