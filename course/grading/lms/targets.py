"""Which assignment is collected, and which notebooks it has."""

from pathlib import Path

from course.files import notebooks_under
from course.grading.errors import GradingError


def assignment_in(folder: Path, name: str | None = None) -> tuple[str, set[str]]:
    """The assignment of this name, or the only one that there is, and its notebooks' names.

    folder : a folder for each assignment, with its notebooks, as nbgrader's source and release folders are.

    Raises GradingError if there is none of this name, or several to choose from.
    """
    notebooks: dict[str, set[str]] = {}
    for path in notebooks_under(folder):
        notebooks.setdefault(path.relative_to(folder).parts[0], set()).add(path.stem)
    there = ", ".join(sorted(notebooks)) or "none"
    if name is None and len(notebooks) != 1:
        raise GradingError(f"Name the assignment with --assignment; there are: {there}.")
    chosen = name or next(iter(notebooks))
    if chosen not in notebooks:
        raise GradingError(f"There is no assignment {chosen}; there are: {there}.")
    return chosen, notebooks[chosen]
