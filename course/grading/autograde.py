"""Grades one notebook with nbgrader's own converters, in this process and in a folder of its own."""

import copy
import glob
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde, GenerateAssignment, GenerateFeedback
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import compute_checksum, is_grade, is_solution
from traitlets.config import Config
from traitlets.config.loader import ConfigFileNotFound, PyFileConfigLoader

from course.building.nodes import to_bytes
from course.grading.errors import GradingError
from course.grading.gradebook import open_submission, submitted_notebook
from course.grading.intake import Submission
from course.grading.masters import Master
from course.grading.restore import restored


@dataclass(frozen=True)
class Graded:
    """What grading a notebook gives: the score, what went wrong, and the two files nbgrader makes."""

    score: float
    problem: str
    autograded: bytes
    feedback: bytes


def load_settings(root: Path) -> Config:
    """The course's `nbgrader_config.py`, as nbgrader itself reads it."""
    try:
        return Config(PyFileConfigLoader("nbgrader_config.py", path=str(root)).load_config())
    except ConfigFileNotFound:
        raise GradingError(f"There is no nbgrader_config.py in {root}.") from None


class _OneNotebook:
    """Converts what it is given and lets errors through.

    nbgrader's own loop logs an error and drops the student's other notebooks with the one that failed; it
    also copies whatever lies beside a submission, and scores what was not handed in as zero.
    """

    def convert_notebooks(self: Any) -> None:
        for notebooks in self.assignments.values():
            for notebook in sorted(notebooks):
                self.convert_single_notebook(notebook)


class _Autograde(_OneNotebook, Autograde):  # type: ignore[misc]
    pass


class _GenerateFeedback(_OneNotebook, GenerateFeedback):  # type: ignore[misc]
    pass


class Grader:
    """Grades notebooks of one course against one gradebook."""

    def __init__(self, settings: Config, db_url: str) -> None:
        self.settings, self.db_url = settings, db_url

    def register(self, masters: list[Master]) -> None:
        """Tell the gradebook which cells there are and what each is worth.

        Raises GradingError if it holds submissions to a notebook that had other cells.
        """
        for master in masters:
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                source = folder / "source" / master.assignment / f"{master.name}.ipynb"
                source.parent.mkdir(parents=True)
                source.write_bytes(to_bytes(master.notebook))
                courses = self._course(folder, master, source_directory="source")
                converter = GenerateAssignment(coursedir=courses, config=self.settings)
                try:
                    converter.start()
                except Exception as error:
                    raise GradingError(
                        f"The gradebook does not take the master {master.name}. If its cells changed since "
                        "the class was graded, move gradebook.db away and grade again; "
                        "grading.log has the details."
                    ) from error

    def grade(self, submission: Submission) -> Graded:
        """Grade one notebook, and put its scores into the gradebook.

        Raises SubmissionError if it cannot be graded, or whatever nbgrader raises.
        """
        master, student = submission.master, submission.student
        notebook, notes = restored(submission.cells or [], master)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            place = Path(student, master.assignment, master.name)
            handed_in = folder / "submitted" / place.with_name(f"{master.name}.ipynb")
            handed_in.parent.mkdir(parents=True)
            handed_in.write_bytes(to_bytes(notebook))
            autograded = folder / "autograded" / place.with_name(handed_in.name)
            autograded.parent.mkdir(parents=True)
            for attachment in submission.attachments:
                shutil.copyfile(attachment, autograded.parent / attachment.name, follow_symlinks=False)
            with Gradebook(self.db_url, self.settings.CourseDirectory.course_id) as gradebook:
                open_submission(gradebook, student, master.assignment, master.name, submission.timestamp)
            courses = self._course(folder, master, student_id=glob.escape(student))
            _Autograde(coursedir=courses, config=self.settings).start()
            _GenerateFeedback(coursedir=courses, config=self.settings).start()
            data = autograded.read_bytes()
            page = (folder / "feedback" / place.with_name(f"{master.name}.html")).read_bytes()
        with Gradebook(self.db_url, self.settings.CourseDirectory.course_id) as gradebook:
            entry = submitted_notebook(gradebook, student, master.assignment, master.name)
            if entry is None:
                raise RuntimeError(f"nbgrader left cells of {master.name} without a score")
            score = float(entry.score)
        problems = what_went_wrong(nbformat.reads(data.decode(), as_version=4))  # type: ignore[no-untyped-call]
        return Graded(score, "\n".join([*submission.notes, *notes, *problems]), data, page)

    def _course(self, folder: Path, master: Master, **names: str) -> CourseDirectory:
        """nbgrader's idea of a course, narrowed to one notebook.

        Always in a folder of ours: nbgrader takes the brackets in a folder's name for a pattern.
        """
        settings = copy.deepcopy(self.settings)
        settings.CourseDirectory.merge(
            {
                "root": str(folder),
                "db_url": self.db_url,
                "assignment_id": master.assignment,
                "notebook_id": glob.escape(master.name),
                **names,
            }
        )
        return CourseDirectory(config=settings)


def what_went_wrong(notebook: Any) -> list[str]:
    """A line for each message in a graded notebook, with the names of the cells it came from."""
    solutions = [cell for cell in notebook.cells if is_solution(cell)]
    if solutions and all(
        cell.metadata.nbgrader.get("checksum") == compute_checksum(cell) for cell in solutions
    ):
        return ["Nothing was written: every solution cell is as it was handed out."]
    cells: dict[str, list[str]] = {}
    for number, cell in enumerate(notebook.cells, start=1):
        nbgrader = cell.metadata.get("nbgrader", {})
        for output in cell.get("outputs", []):
            if output.output_type == "error":
                name = nbgrader.get("grade_id") if is_grade(cell) or is_solution(cell) else None
                cells.setdefault(_message(output), []).append(name or f"cell {number}")
    return [f"{', '.join(names)}: {message}" for message, names in cells.items()]


def _message(error: Any) -> str:
    """The first line of an error: what its author wrote if a check failed, else with the error's kind."""
    line = next(iter(error.evalue.strip().splitlines()), "")
    if error.ename == "AssertionError":
        return line or "an assertion failed"
    return f"{error.ename}: {line}" if line else str(error.ename)
