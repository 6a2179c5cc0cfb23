"""The three notebooks made from a master: nbgrader's, the students', and the one for self-study."""

import copy
from itertools import takewhile
from typing import Any

from course.building.hidden_tests import HIDDEN_TESTS
from course.building.master import Master, grade_id_of
from course.building.nodes import markdown_cell, node
from course.building.rules import SOLUTION
from coursework.origin import sign

CODE_STUB = (
    '# YOUR CODE HERE\nraise NotImplementedError("write your solution here, then run this cell again")'
)
_GRADED, _STUDIED = "from course.checks import require\n", "from course.study import check\n"
_CASES = "# The same, on cases to read and to change:"
_SOLUTION_FOLD = (
    "<details>\n<summary>A worked solution, for when you have tried</summary>\n\n{}\n\n</details>"
)


def for_nbgrader(master: Master) -> Any:
    """The master as a notebook, as nbgrader wants it in its source folder."""
    return _for_audience(master, "release-only")


def for_students(master: Master) -> Any:
    """The students' version: no solution, no hidden test, nothing that was run.

    It is made from what `for_nbgrader` gives by the steps of `nbgrader generate_assignment`; only the one
    that writes to a gradebook is left out.
    """
    from nbgrader.preprocessors import SaveCells

    from course.building.preprocessors import release_steps

    steps = [step for step in release_steps() if step is not SaveCells]
    about = {"assignment": master.assignment, "notebook": master.name}
    return _run(steps, for_nbgrader(master), {"nbgrader": about})


def for_self_study(master: Master) -> Any:
    """The section to read alone: every check open, each worked solution folded below its cell."""
    from nbgrader.preprocessors import ClearOutput, ClearSolutions

    solved = _for_audience(master, "self-study-only")
    unsolved = _run([ClearSolutions, ClearOutput], solved, {})
    cells, answers = [], []
    for cell, original in zip(unsolved.cells, solved.cells, strict=True):
        cell.source = _without_markers(_with_card(cell.source), HIDDEN_TESTS, [""])
        cells.append(cell)
        if cell.metadata.get("nbgrader", {}).get("solution"):
            answers.append(cell.id)
            solution = _without_markers(original.source, SOLUTION, [])
            if cell.cell_type == "code":
                solution = f"```python\n{solution}\n```"
            cells.append(
                markdown_cell(_SOLUTION_FOLD.format(solution), f"{grade_id_of(original)}-solution"[-64:])
            )
        cell.metadata = node({})
    unsolved.cells = cells
    return sign(unsolved, master.name, answers)


def _with_card(source: str) -> str:
    """A check cell whose hidden test asks `course.study`, which shows a card, in place of `course.checks`.

    It asks before the visible tests: one of those that failed first would keep the card from being shown.
    """
    visible, begin, region = source.partition(f"### BEGIN {HIDDEN_TESTS}\n{_GRADED}")
    if not begin:
        return source
    asked, _, after = region.partition(f"\n### END {HIDDEN_TESTS}")
    lines = visible.split("\n")
    title = list(takewhile(lambda line: line.startswith("#"), lines))
    cases = "\n".join([*lines[len(title) :], after]).strip("\n")
    door = _STUDIED + asked.replace("\nrequire(", "\ncheck(")
    return "\n".join([*title, door, *(["", _CASES, cases] if cases else [])])


def _for_audience(master: Master, audience: str) -> Any:
    """The cells for everybody and for this audience, without the tags that said so."""
    notebook = copy.deepcopy(master.notebook)
    notebook.cells = [cell for cell in notebook.cells if set(cell.metadata.get("tags", [])) <= {audience}]
    for cell in notebook.cells:
        cell.metadata.pop("tags", None)
    return notebook


def _run(steps: list[Any], notebook: Any, resources: dict[str, Any]) -> Any:
    from traitlets.config import Config

    stub = {"code_stub": {"python": CODE_STUB}}
    config = Config({"ClearSolutions": stub})
    notebook = copy.deepcopy(notebook)
    for step in steps:
        notebook, resources = step(config=config)(notebook, resources)
    return notebook


def _without_markers(source: str, kind: str, opening: list[str]) -> str:
    """The source with a region's end marker gone, and `opening` in place of its begin marker."""
    lines: list[str] = []
    for line in source.split("\n"):
        if f"BEGIN {kind}" in line:
            lines += opening
        elif f"END {kind}" not in line:
            lines.append(line)
    return "\n".join(lines)
