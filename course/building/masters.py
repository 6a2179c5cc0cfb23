"""Reads the masters: a section as MyST text becomes a notebook with its nbgrader metadata complete."""

import hashlib
from collections import Counter
from pathlib import Path
from typing import Any

from course.building.master import NBGRADER_DEFAULTS, Master, MasterError, grade_id_of
from course.building.navigation import navigate
from course.building.nodes import node
from course.building.questions import expand, problems_with
from course.building.rules import problems_in
from course.questions import QuestionError, load_questions

QUESTIONS = Path("source/questions.yaml")
KERNELSPEC = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


def master_files(root: Path) -> list[Path]:
    """The masters of a course: `source/<assignment>/<section>.md`."""
    return sorted((root / "source").glob("*/*.md"))


def read_masters(root: Path) -> list[Master]:
    """Every master of the course.

    Raises MasterError, with all that is wrong in any of them, if one cannot be built.
    """
    masters: list[Master] = []
    problems: list[str] = []
    files = master_files(root)
    if not files:  # building nothing would remove everything that was built
        raise MasterError(f"{root}: there is no master; they are source/<assignment>/<section>.md")
    for path in files:
        try:
            masters.append(read_master(path))
        except MasterError as error:
            problems += [f"{path.relative_to(root)}: {line}" for line in str(error).splitlines()]
    problems += complete(masters, root)
    homes: dict[str, Master] = {}
    for master in masters:
        for grade_id in filter(None, map(grade_id_of, master.notebook.cells)):
            other = homes.setdefault(f"{master.assignment}/{grade_id}", master)
            if other is not master:
                problems.append(
                    f"source/{master.assignment}/{master.name}.md: grade_id `{grade_id}` is also in "
                    f"{other.name}.md; give each cell of an assignment an id of its own"
                )
    if problems:
        raise MasterError("\n".join(problems))
    return masters


def complete(masters: list[Master], root: Path) -> list[str]:
    """Put the questions and the links between sections into the masters; returns what is wrong there."""
    file = root / QUESTIONS
    try:
        questions = {question.id: question for question in load_questions(file)} if file.exists() else {}
    except QuestionError as error:
        return str(error).splitlines()
    problems = problems_with(masters, questions)
    if not problems:
        for master in masters:
            master.notebook.cells = [_finished(cell) for cell in expand(master.notebook.cells, questions)]
        for assignment in sorted({master.assignment for master in masters}):
            navigate([master for master in masters if master.assignment == assignment])
    return problems


def read_master(path: Path) -> Master:
    """One master from its file.

    Raises MasterError if its text, its metadata or its markers are not what nbgrader and the build need.
    """
    # Imported here: nbgrader loads this module at each start, and jupytext is only needed for a stale master.
    import jupytext
    import yaml
    from jupytext.myst import MystMetadataParsingError

    try:
        notebook = jupytext.reads(path.read_text(encoding="utf-8"), fmt="md:myst")
    except (MystMetadataParsingError, yaml.YAMLError) as error:
        raise MasterError(f"a header cannot be read as YAML: {' '.join(str(error).split())}") from error
    except UnicodeDecodeError as error:
        raise MasterError(f"the text is not UTF-8: {error}") from error
    if problems := problems_in(notebook.cells):
        raise MasterError("\n".join(problems))
    for cell, cell_id in zip(notebook.cells, _cell_ids(notebook.cells), strict=True):
        cell["id"] = cell_id
        _finished(cell)
    notebook.metadata = node({"kernelspec": KERNELSPEC})
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    return Master(assignment=path.parent.name, name=path.stem, notebook=notebook)


def _finished(cell: Any) -> Any:
    """A cell with its nbgrader metadata complete."""
    if "nbgrader" in cell.metadata:
        cell.metadata["nbgrader"] = node(NBGRADER_DEFAULTS | cell.metadata["nbgrader"])
    return cell


def _cell_ids(cells: list[Any]) -> list[str]:
    """An id a cell that no other cell's arrival changes: its grade_id, else a hash of its own source."""
    seen: Counter[str] = Counter()
    ids = []
    for cell in cells:
        cell_id = grade_id_of(cell) or hashlib.sha256(cell["source"].encode()).hexdigest()[:12]
        seen[cell_id] += 1
        ids.append(cell_id if seen[cell_id] == 1 else f"{cell_id}-{seen[cell_id]}")
    return ids
