"""What `course export` does: open the gradebook, take the marks out, write the file that was asked for."""

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from sqlalchemy import make_url
from traitlets.config import Config

from course.grading.errors import GradingError
from course.grading.export import canvas, moodle
from course.grading.export.placing import Filled
from course.grading.export.standing import Row, read_rows
from course.grading.export.table import notebooks_table, totals_table
from course.grading.export.totals import Total, totals
from course.grading.gradebook.database import in_sentences, open_gradebook
from course.grading.lms.marks import Numbers
from course.grading.lms.sheet import Sheet
from course.grading.records import Status, latest
from course.grading.runs.folder import ClassFolder
from course.grading.settings import database_url
from course.keeping import Keeper, what_is_wrong_with_target

Format = Literal["csv", "canvas", "moodle"]


@dataclass(frozen=True)
class Exported:
    """The file that was written, a sentence that sums it up, and what its reader should know."""

    path: Path
    summary: str
    remarks: list[str] = field(default_factory=list)


def export(
    folder: Path,
    settings: Config,
    format: Format,
    *,
    to: Path | None = None,
    students: Path | None = None,
    assignments: Collection[str] = (),
    by_student: bool = False,
    numbers: Numbers = None,
    db_url: str | None = None,
) -> Exported:
    """Write the marks of the class in a folder.

    students : the file that Canvas or Moodle gave, to be filled in.
    by_student : a row a student in place of a row a notebook, for csv.
    numbers : whether the numbers in the students' file are the users' own; None: see `marks.number`.
    db_url : of the gradebook, if it is not the one in the settings or the folder's gradebook.db.

    Raises GradingError if there is no gradebook, no such assignment, or the students' file is of no use.
    """
    url = database_url(settings, folder, db_url)
    course_id = settings.CourseDirectory.course_id
    rows = _rows(ClassFolder(folder), course_id, url, assignments)
    together = totals(rows)
    if not together:
        raise GradingError(
            "The gradebook knows no student or no notebook with points. Grade the class first."
        )
    if to and (wrong := what_is_wrong_with_target(to, ".csv")):
        raise GradingError(wrong)
    to = to or folder / ("grades.csv" if format == "csv" else f"grades-{format}.csv")
    if format == "csv":
        data = totals_table(together) if by_student else notebooks_table(rows)
        _write(folder, to, data)
        return Exported(to, _summary(rows))
    filled = _for_platform(format, together, rows, students, numbers)
    _write(folder, to, filled.data)
    placed = f"{filled.placed} students have a row. "
    return Exported(to, placed + _summary(rows), filled.remarks)


def _write(folder: Path, to: Path, data: bytes) -> None:
    try:
        with Keeper(folder) as keeper:
            keeper.write(to.absolute(), data)
    except OSError as error:
        raise GradingError(f"{to} cannot be written: {error.strerror}.") from error


def _rows(folder: ClassFolder, course_id: str, db_url: str, assignments: Collection[str]) -> list[Row]:
    file = make_url(db_url).database if db_url.startswith("sqlite:///") else None
    if file and not Path(file).is_file():  # opening it would make an empty one
        raise GradingError(f"There is no gradebook at {file}. Grade the class first: course grade.")
    with open_gradebook(db_url, course_id) as gradebook, in_sentences(gradebook.engine.url):
        known = [str(assignment.name) for assignment in gradebook.assignments]
        if unknown := sorted(set(assignments) - set(known)):
            there = ", ".join(known) or "none"
            raise GradingError(f"The gradebook has no assignment {', '.join(unknown)}; it has {there}.")
        return read_rows(gradebook, latest(folder.records), folder.submitted, assignments=assignments)


def _for_platform(
    format: Format,
    together: list[Total],
    rows: list[Row],
    students: Path | None,
    numbers: Numbers,
) -> Filled:
    if len(names := sorted({total.assignment for total in together})) > 1:
        raise GradingError(
            f"A file for a platform holds one assignment. Name it with --assignment: {', '.join(names)}."
        )
    sheet = Sheet.read(students) if students else None
    if format == "canvas":
        return canvas.filled_in(sheet, together, rows, numbers) if sheet else canvas.new_file(together)
    return moodle.filled_in(sheet, together, numbers) if sheet else moodle.new_file(together)


def _summary(rows: list[Row]) -> str:
    counts = {status: sum(each.status == status for each in rows) for status in Status}
    listed = ", ".join(f"{count} {status}" for status, count in counts.items() if count)
    return f"{len(rows)} notebooks: {listed}."
