"""Lets nbgrader's commands write and collect without deleting what a person made or changed."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from nbgrader.exchange.default import ExchangeCollect, ExchangeReleaseAssignment

from course.files import notebooks_under
from course.keeping import Keeper, move_aside


def stage(converter: Any, start: Callable[[Any], None], directory: str, root: Path) -> None:
    """Run `nbgrader generate_assignment` or `generate_solution` into a folder of its own, then put in place
    what it made.

    nbgrader itself deletes the folder first, and deletes it again if something goes wrong.

    start : nbgrader's own way to run the converter.
    directory : the setting of the course directory that names where the result belongs.
    """
    from course.building.outputs import is_built

    courses = converter.coursedir
    wanted = getattr(courses, directory)
    place = Path(courses.root) / wanted
    with TemporaryDirectory(prefix="nbgrader-") as staged, Keeper(root, partial(is_built, root)) as keeper:
        setattr(courses, directory, staged)
        try:
            start(converter)
        finally:
            setattr(courses, directory, wanted)
        for path in sorted(Path(staged).rglob("*")):
            if path.is_file():
                keeper.write(place / path.relative_to(staged), path.read_bytes())


def register_masters(converter: Any) -> None:
    """Tell the gradebook which cells the assignment has, also after a class has been graded.

    Raises GradingError if it holds submissions to a notebook that had other cells.
    """
    from course.grading.gradebook.database import open_gradebook
    from course.grading.gradebook.registering import register
    from course.grading.masters import read_master

    courses = converter.coursedir
    folder = Path(courses.format_path(courses.source_directory, ".", courses.assignment_id))
    masters = [
        read_master(path.read_bytes(), courses.assignment_id, path.stem) for path in notebooks_under(folder)
    ]
    with open_gradebook(courses.db_url, courses.course_id) as gradebook:
        gradebook.update_or_create_assignment(courses.assignment_id)
        register(gradebook, masters, converter.config)


class KeepingCollect(ExchangeCollect):  # type: ignore[misc]
    """`nbgrader collect`: what a newer submission replaces is set aside."""

    def copy_files(self) -> None:
        """Set aside the folders that nbgrader would delete, then collect."""
        if self.update or self.before_duedate:
            for record in self.src_records:
                folder = self.coursedir.format_path(
                    self.coursedir.submitted_directory, record["username"], self.coursedir.assignment_id
                )
                there, new = self.coursedir.get_existing_timestamp(folder), record["timestamp"]
                newer = self.update and (there is None or new > there)
                if newer or (self.before_duedate and new != there):
                    kept = move_aside(Path(folder), Path(self.coursedir.root))
                    if kept:
                        self.log.warning("What was there before is kept as %s", kept)
        super().copy_files()


class KeepingRelease(ExchangeReleaseAssignment):  # type: ignore[misc]
    """`nbgrader release_assignment --force`: what was released before is set aside."""

    def copy_files(self) -> None:
        """Set aside what nbgrader would delete, then release."""
        if self.force:
            kept = move_aside(Path(self.dest_path), Path(self.coursedir.root))
            if kept:
                self.log.warning("What was released before is kept as %s", kept)
        super().copy_files()
