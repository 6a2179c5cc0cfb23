"""Where what belongs to a class lies in its folder."""

from dataclasses import dataclass
from pathlib import Path

from course.grading.records import Record


@dataclass(frozen=True)
class ClassFolder:
    """A class's folder: `submitted/` is read, all else is written by grading."""

    path: Path

    @property
    def submitted(self) -> Path:
        """What students handed in: `<student>/<assignment>/<notebook>.ipynb`."""
        return self.path / "submitted"

    @property
    def records(self) -> Path:
        """The records, a line each time a notebook is graded."""
        return self.path / "grading.jsonl"

    @property
    def log(self) -> Path:
        """What went on, for whoever looks for a fault."""
        return self.path / "grading.log"

    def autograded(self, record: Record) -> Path:
        """The notebook as it was graded, where nbgrader and formgrader look for it."""
        return self.path / "autograded" / record.student / record.assignment / f"{record.notebook}.ipynb"

    def page(self, record: Record) -> Path:
        """The page for the student."""
        return self.path / "feedback" / record.student / record.assignment / f"{record.notebook}.html"
