"""Our step in nbgrader's pipeline that makes the students' version; `nbgrader_config.py` puts it there."""

import re
from typing import Any

from nbgrader.converters import GenerateAssignment
from nbgrader.preprocessors import ClearSolutions, NbGraderPreprocessor

from coursework.origin import sign

_NO_STUB = re.compile(r"\n### BEGIN SOLUTION\n### NO STUB\n.*?\n### END SOLUTION", re.DOTALL)


class ClearAnswers(ClearSolutions):  # type: ignore[misc]
    """nbgrader's step, but for a region marked `### NO STUB`: nothing takes its place.

    The answer to a question has its stub above the region, `answer = None`, where an error would stop a
    reader who runs the notebook from top to bottom.
    """

    def _replace_solution_region(self, cell: Any, language: str) -> bool:
        cell.source, count = _NO_STUB.subn("", cell.source)
        return bool(super()._replace_solution_region(cell, language)) or count > 0


class Sign(NbGraderPreprocessor):  # type: ignore[misc]
    """Writes down what each cell was when students got it, so that an update can tell their work."""

    def preprocess(self, notebook: Any, resources: Any) -> tuple[Any, Any]:
        """Sign the notebook as it stands, which is what students get."""
        about = resources["nbgrader"]
        return sign(notebook, f"{about['assignment']}/{about['notebook']}"), resources


def release_steps() -> list[type]:
    """nbgrader's own steps in its own order, ours in place of its ClearSolutions, and last the signature."""
    steps = GenerateAssignment.class_traits()["preprocessors"].default()
    return [*(ClearAnswers if step is ClearSolutions else step for step in steps), Sign]
