"""A master's cell as students got it, to tell what they changed."""

from typing import Any

from course.building.hidden_tests import parted
from course.building.rules import SOLUTION
from course.building.versions import CODE_STUB

TEXT_STUB = "YOUR ANSWER HERE"  # nbgrader's own
MARK_SCHEME = "MARK SCHEME"  # of a task, for whoever grades it
_NO_STUB = "### NO STUB"


def released_text(cell: Any) -> str:
    """The text of a cell without what students must not see, as `nbgrader generate_assignment` makes it."""
    if not cell.metadata.nbgrader.get("solution"):
        return parted(parted(cell.source)[0], MARK_SCHEME)[0]
    stub = (CODE_STUB if cell.cell_type == "code" else TEXT_STUB).split("\n")
    lines: list[str] = []
    region: list[str] = []
    inside = found = False
    for line in cell.source.split("\n"):
        if f"BEGIN {SOLUTION}" in line:
            inside, found, region = True, True, [line]
        elif f"END {SOLUTION}" in line:
            inside = False
            indent = region[0][: len(region[0]) - len(region[0].lstrip())]
            if region[1:2] != [_NO_STUB]:
                lines += [indent + part for part in stub]
        else:
            (region if inside else lines).append(line)
    if not found and cell.metadata.nbgrader.get("grade"):  # nbgrader takes it all for the solution
        lines = stub
    return "\n".join(lines)


def is_released(cell: Any, source: str) -> bool:
    """Whether a text is a cell's as it was handed out; space at the ends of lines does not count."""
    return normalised(source) == normalised(released_text(cell))


def normalised(source: str) -> str:
    """A text without the space that editors add and take away."""
    return "\n".join(line.rstrip() for line in source.strip("\n").split("\n")).rstrip()
