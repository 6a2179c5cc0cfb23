"""`nbgrader zip_collect`: takes the same files, for the same students, as `course collect`."""

from pathlib import Path
from typing import Any, cast

from nbgrader.plugins import FileNameCollectorPlugin
from traitlets import Enum, Unicode

from course.grading.lms.archive import Source
from course.grading.lms.marks import Numbers
from course.grading.lms.roster import read_roster
from course.grading.lms.sorting import HandedIn, sort_out
from course.grading.lms.targets import assignment_in
from course.keeping import move_aside


class LmsCollector(FileNameCollectorPlugin):  # type: ignore[misc]
    """Reads the names that Canvas and Moodle give.

    nbgrader asks about one unpacked file at a time and cannot tell which of two uploads is the later one, so
    the archives themselves are sorted out first, as a whole.
    """

    students = Unicode(
        "", help="a CSV file that says who is in the class, with the columns of `nbgrader db student import`"
    ).tag(config=True)

    numbers = Enum(
        ["users", "ignore"],
        None,
        allow_none=True,
        help="whether the platform's numbers are the users' own (lms_user_id), or not to be looked at; "
        "by default, Canvas's are the users' and Moodle's need not be",
    ).tag(config=True)

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        # With --force, nbgrader itself deletes what is in a folder that it wants empty.
        self.parent._clear_existing_files = self._empty

    def _empty(self, path: str) -> None:
        app: Any = self.parent
        folder = Path(path)
        if app.force:
            if kept := move_aside(folder, Path(app.coursedir.root)):
                app.log.warning("What was there before is kept as %s", kept)
            folder.mkdir(parents=True, exist_ok=True)
        elif any(folder.iterdir()):
            app.fail(f"Directory not empty: {folder}\nuse the --force option to set aside what is there")

    def collect(self, submitted_file: str) -> dict[str, str] | None:
        """Whose a file is, and which notebook; None if it is not to be collected."""
        app = self.parent
        unpacked = Path(app._format_collect_path(app.extracted_directory)).resolve()
        each = self._sorted_out().get(Path(submitted_file).resolve().relative_to(unpacked).parts)
        if each is None:
            return None
        told = {"student_id": each.student, "file_id": f"{each.notebook}.ipynb"}
        if each.found.time is not None and not each.from_platform:
            told["timestamp"] = each.found.time.isoformat(" ")
        return told

    def _sorted_out(self) -> dict[tuple[str, ...], HandedIn]:
        """What to collect, by the place that nbgrader has unpacked it to."""
        if not hasattr(self, "_places"):
            app: Any = self.parent
            released = Path(app.coursedir.root) / app.coursedir.release_directory
            assignment, notebooks = assignment_in(released, app.coursedir.assignment_id)
            numbers = cast(Numbers, self.numbers)
            people = read_roster(Path(self.students)) if self.students else None
            with Source(Path(app._format_collect_path(app.archive_directory))) as archives:
                handed_in, left = sort_out(archives.files(), assignment, notebooks, people, (), numbers)
            for remark in people.remarks() if people else []:
                self.log.warning("%s", remark)
            for each in left:
                self.log.warning("%s is not collected: %s", each.shown, each.reason)
            self._places = {each.found.unpacked: each for each in handed_in}
        return self._places
