"""Our two steps in nbgrader's pipelines; `nbgrader_config.py` puts them there."""

import re
import subprocess
from pathlib import Path
from typing import Any

from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbconvert.filters.ansi import strip_ansi
from nbgrader.preprocessors import Execute, NbGraderPreprocessor
from nbgrader.utils import is_grade, is_solution
from traitlets import Bool, List

import course
from course.building.master import grade_id_of
from course.grading.errors import SubmissionError

_COURSE = str(Path(course.__file__).parent)
_LINE_NUMBER = re.compile(r"^\s*(-+>)?\s*\d+ ?")


class BoundedExecute(Execute):  # type: ignore[misc]
    """Runs a notebook, and gives it up at the first cell that does not end.

    nbgrader interrupts such a cell and waits for each later one as long again. It also takes what a test
    writes to stderr, a warning say, for a failure; here only an error is one.

    Raises SubmissionError, with the cell's name, if a cell takes too long or the kernel dies.
    """

    interrupt_on_timeout = Bool(False).tag(config=True)

    def preprocess_cell(self, cell: Any, resources: Any, index: int) -> tuple[Any, Any]:
        """Run one cell."""
        label = grade_id_of(cell) or f"cell {index + 1}"
        try:
            cell, resources = super().preprocess_cell(cell, resources, index)
        except CellTimeoutError:
            raise SubmissionError(
                f"{label} ran for more than {self.timeout} seconds and was stopped. "
                "Is there a loop that never ends?"
            ) from None
        except DeadKernelError:
            raise SubmissionError(
                f"The kernel died while it ran {label}: out of memory, or the code ended its own process."
            ) from None
        if is_grade(cell):
            for output in cell.get("outputs", []):
                if output.output_type == "stream":
                    output.name = "stdout"
        return cell, resources

    def setup_kernel(self, **kwargs: Any) -> Any:
        """Start the kernel; what it writes past the notebook is thrown away, not shown on our terminal."""
        return super().setup_kernel(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **kwargs)


class HideTests(NbGraderPreprocessor):  # type: ignore[misc]
    """Takes hidden tests out of a feedback page: their source, and the course's lines in a traceback."""

    # The HTML exporter sets this for every step, and warns of each that has no such setting.
    display_data_priority: Any = List([]).tag(config=True)

    def preprocess_cell(self, cell: Any, resources: Any, index: int) -> tuple[Any, Any]:
        """Clean one cell."""
        hidden: set[str] = set()
        if is_grade(cell) and not is_solution(cell):
            cell.source, hidden = _parted(cell.source)
        for output in cell.get("outputs", []):
            if output.output_type == "error":
                frames = [frame for frame in output.traceback if _COURSE not in _plain(frame)]
                output.traceback = [_without(hidden, frame) for frame in frames]
        return cell, resources


def _parted(source: str) -> tuple[str, set[str]]:
    """A test's visible text, and its hidden lines."""
    visible: list[str] = []
    hidden: set[str] = set()
    inside = False
    for line in source.split("\n"):
        if "BEGIN HIDDEN TESTS" in line:
            inside = True
            visible.append("# Hidden tests ran here; what they found is below.")
        if inside:
            hidden.add(line.strip())
        else:
            visible.append(line)
        inside = inside and "END HIDDEN TESTS" not in line
    return "\n".join(visible), hidden - {""}


def _without(hidden: set[str], frame: str) -> str:
    """A part of a traceback without the lines, numbered and perhaps marked by an arrow, that show these."""
    lines = frame.split("\n")
    return "\n".join(line for line in lines if _LINE_NUMBER.sub("", _plain(line)).strip() not in hidden)


def _plain(text: str) -> str:
    """Text without a terminal's colours."""
    return str(strip_ansi(text))  # type: ignore[no-untyped-call]
