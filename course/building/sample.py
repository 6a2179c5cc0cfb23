"""The sample class: what each of its students hands in, made from the release and from what they typed."""

import copy
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from course.building.master import MasterError, grade_id_of

_PART = re.compile(r"^# %% (\S+)$\n?", re.MULTILINE)


def sample_submissions(answers: Path, release: dict[Path, Any]) -> Iterator[tuple[Path, Any]]:
    """Each submission's path below `submitted/`, and its notebook, or its bytes if it goes in as it lies.

    `answers/<student>.py` holds what a student typed, each part below a line `# %% <grade_id>` that names
    its solution cell; a part without a line of code leaves the cell as it came. The notebooks of the cells
    that are named are handed in. `answers/<student>/<notebook>.ipynb` is handed in unchanged.

    Raises MasterError if an answer names a cell that no notebook of the release has.
    """
    for file in sorted(answers.iterdir()):
        if file.is_dir():
            for path in release:
                if (file / path.name).exists():
                    yield Path(file.name) / path, (file / path.name).read_bytes()
        elif file.suffix == ".py":
            typed = _parts(file.read_text(encoding="utf-8"))
            for path, notebook in release.items():
                if any(grade_id_of(cell) in typed for cell in notebook.cells):
                    yield Path(file.stem) / path, _filled_in(notebook, typed)
            if typed:
                raise MasterError(
                    f"sample_class/answers/{file.name}: no solution cell is called {', '.join(typed)}"
                )


def _parts(text: str) -> dict[str, str]:
    """Grade ids and what was typed for them; what stands before the first of them is a note to the reader."""
    _, *found = _PART.split(text)
    return {name: code.strip("\n") for name, code in zip(found[::2], found[1::2], strict=True)}


def _filled_in(notebook: Any, typed: dict[str, str]) -> Any:
    """A copy of a released notebook with the answers typed in; takes the ones it used out of `typed`."""
    notebook = copy.deepcopy(notebook)
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            cell.source = typed.pop(grade_id_of(cell) or "", "") or cell.source
    return notebook
