"""The CSV file that Canvas's gradebook exports and imports.

Its importer wants the columns Student, ID, SIS User ID, SIS Login ID and Section in this order, then one for
each assignment, and a row "Points Possible" below the header. It takes an empty cell for a grade to be
removed, so where there is no score a cell stays as it is, and a new file has no row for that student.
"""

import csv
import io
import re
from collections.abc import Sequence

from course.grading.errors import GradingError
from course.grading.export.placing import Filled, number, placed, writes_commas
from course.grading.export.standing import Row
from course.grading.export.totals import Total
from course.grading.lms import marks
from course.grading.lms.marks import Mark, Numbers, Reading
from course.grading.lms.sheet import Sheet
from course.grading.lms.spelling import squeezed

_WHO = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
_POINTS = "Points Possible"
_ITS_ID = re.compile(r"\s*\(\d+\)\s*$")  # Canvas writes an assignment's own id behind its title
_READ_ONLY = "read only"


def new_file(totals: Sequence[Total]) -> Filled:
    """A file for one assignment, with the gradebook's ids: lms_user_id as ID, the student's id as login."""
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    writer.writerow([*_WHO, totals[0].assignment])
    writer.writerow([f"    {_POINTS}", "", "", "", "", number(totals[0].max_score)])
    settled = [total for total in totals if total.score is not None]
    for total in settled:
        person = total.person
        name = ", ".join(filter(None, [person.last_name, person.first_name])) or person.id
        writer.writerow([name, person.lms_user_id, "", person.id, "", number(total.score)])
    left = [total.person.id for total in totals if total.score is None]
    remarks = [f"Without a score, and so without a row: {', '.join(left)}."] if left else []
    return Filled(file.getvalue().encode(), len(settled), remarks)


def filled_in(sheet: Sheet, totals: Sequence[Total], rows: Sequence[Row], numbers: Numbers = None) -> Filled:
    """Canvas's own export with our scores in it.

    The columns of that name are filled in: the assignment's with its total, a notebook's with that notebook's
    score. If there is none, a column for the assignment is added, and Canvas asks whether to make it.

    numbers : whether those in the column ID are the users' own, as they are by default.

    Raises GradingError if this is no export of Canvas's gradebook.
    """
    header = sheet.header
    if header[0] not in ("Student", "LastName") or "ID" not in header or "Section" not in header:
        raise GradingError(
            "This is no export of Canvas's gradebook: its header should begin with Student, ID, and have a "
            "column Section. In Canvas: Grades > Export > Export Entire Gradebook."
        )
    students = [row for row in sheet.rows[1:] if _is_student(row)]
    points = next((row for row in sheet.rows[1:] if row and _POINTS in row[0]), [])
    comma = writes_commas(cell for row in sheet.rows[1:] for cell in row)
    remarks: list[str] = []
    columns = _columns(header, points, totals[0].assignment, {each.notebook for each in rows})
    if not columns:
        columns = {_added(sheet, students, points, totals[0], comma): None}
        remarks.append(
            f"No column is called {totals[0].assignment}; one was added, which Canvas will ask about."
        )
    scores: dict[tuple[str, str | None], float | None] = {
        (each.person.id, each.notebook): each.score for each in rows
    }
    scores |= {(total.person.id, None): total.score for total in totals}
    maxima = {each.notebook: each.max_score for each in rows}
    for column, notebook in columns.items():
        ours = totals[0].max_score if notebook is None else maxima[notebook]
        if column < len(points) and points[column].strip() and not _equal(points[column], ours):
            remarks.append(
                f"{header[column] if column < len(header) else totals[0].assignment} has "
                f"{points[column].strip()} points in Canvas and {number(ours)} here; scores are not scaled."
            )
    whose, left = placed([(_name(sheet, row), _marks(sheet, row, numbers)) for row in students], totals)
    for row, total in zip(students, whose, strict=True):
        for column, notebook in columns.items():
            score = scores.get((total.person.id, notebook)) if total else None
            if score is not None:
                row += [""] * (column + 1 - len(row))
                row[column] = number(score, comma)
    return Filled(sheet.to_bytes(), sum(total is not None for total in whose), remarks + left)


def _is_student(row: list[str]) -> bool:
    """Not the rows about the columns, nor the pretended student of Canvas's student view."""
    return bool(row and row[0].strip()) and _POINTS not in row[0] and row[0].strip() != "Student, Test"


def _columns(
    header: list[str], points: list[str], assignment: str, notebooks: set[str]
) -> dict[int, str | None]:
    """The columns to fill in: where each stands, and its notebook, or None for the whole assignment."""
    known: dict[str, str | None] = {squeezed(name): name for name in notebooks} | {squeezed(assignment): None}
    columns = {}
    for index, title in enumerate(header[header.index("Section") + 1 :], start=header.index("Section") + 1):
        plain = squeezed(_ITS_ID.sub("", title))
        if plain in known and not (index < len(points) and _READ_ONLY in points[index]):
            columns[index] = known[plain]
    return columns


def _added(sheet: Sheet, students: list[list[str]], points: list[str], total: Total, comma: bool) -> int:
    """Add a column for the assignment, and say where."""
    index = len(sheet.rows[0])
    for row in sheet.rows:
        if row:
            row += [""] * (index + 1 - len(row))
    sheet.rows[0][index] = total.assignment
    if points:
        points[index] = number(total.max_score, comma)
    return index


def _equal(cell: str, maximum: float) -> bool:
    try:
        return float(cell.strip().replace(",", ".")) == maximum
    except ValueError:
        return False


def _name(sheet: Sheet, row: list[str]) -> str:
    """What Canvas calls the student."""
    if sheet.column("LastName") is None:
        return row[0].strip()
    return ", ".join(filter(None, [sheet.cell(row, "LastName"), sheet.cell(row, "FirstName")]))


def _marks(sheet: Sheet, row: list[str], numbers: Numbers) -> list[Mark]:
    return [
        marks.name_in_gradebook(_name(sheet, row)),
        *marks.number(sheet.cell(row, "ID"), numbers, of_users=True),
        marks.account("SIS User ID", sheet.cell(row, "SIS User ID"), Reading.NUMBER),
        marks.account("SIS Login ID", sheet.cell(row, "SIS Login ID")),
    ]
