"""Ties the sections together: links at the top and bottom of each, and the table of contents."""

import re
from collections.abc import Sequence
from typing import Any

from course.building.master import Master
from course.building.nodes import markdown_cell

CONTENTS = "00-contents"
MARKER = "{{contents}}"
_HEADING = re.compile(r"^# (?:\d+\. )?(.+)$", re.MULTILINE)
_MINUTES = re.compile(r"About (\d+) minutes")
_CHALLENGE = re.compile(r"^## (Challenge \d+\. .+)$", re.MULTILINE)
_QUESTION = re.compile(r"^\*\*Question (\d+)\.", re.MULTILINE)


def navigate(masters: Sequence[Master]) -> None:
    """Add the links and fill in the contents, in place; the masters are an assignment's, in order.

    An assignment without a `00-contents` stays as it is.
    """
    contents = next((master for master in masters if master.name == CONTENTS), None)
    if contents is None:
        return
    sections = [master for master in masters if master is not contents]
    for index, master in enumerate(sections):
        before = sections[index - 1] if index else None
        after = sections[index + 1] if index + 1 < len(sections) else None
        links = _links(before, after)
        top, bottom = (markdown_cell(links, f"navigation-{place}") for place in ("top", "bottom"))
        master.notebook.cells = [top, *master.notebook.cells, bottom]
    for cell in contents.notebook.cells:
        cell.source = cell.source.replace(MARKER, table_of_contents(sections))


def title(master: Master) -> str:
    """A section's title, without its number."""
    found = _HEADING.search(_text(master))
    return found[1] if found else master.name


def table_of_contents(sections: Sequence[Master]) -> str:
    """A row a section: a link, how long it takes, and what there is to answer or to write."""
    rows = ["| no. | section | minutes | to answer and to write | points |", "|---|---|---|---|---|"]
    for section in sections:
        text = _text(section)
        minutes = _MINUTES.search(text)
        tasks = [f"question {number}" for number in _QUESTION.findall(text)]
        tasks += [
            # JupyterLab's anchor of a heading is its text, with hyphens for spaces.
            f"[{name}]({section.name}.ipynb#{name.replace(' ', '-')})"
            for name in _CHALLENGE.findall(text)
        ]
        points = sum(cell.metadata.get("nbgrader", {}).get("points", 0) for cell in section.notebook.cells)
        rows.append(
            f"| {int(section.name[:2])} | [{title(section)}]({section.name}.ipynb) | "
            f"{minutes[1] if minutes else ''} | {'; '.join(tasks)} | {points or ''} |"
        )
    return "\n".join(rows)


def _links(before: Master | None, after: Master | None) -> str:
    parts = [f"[Contents]({CONTENTS}.ipynb)"]
    if before:
        parts.insert(0, f"[← {title(before)}]({before.name}.ipynb)")
    if after:
        parts.append(f"[{title(after)} →]({after.name}.ipynb)")
    return " · ".join(parts)


def _text(master: Master) -> str:
    cells: list[Any] = master.notebook.cells
    return "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
