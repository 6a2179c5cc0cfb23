"""The instructor's list of students: the columns of nbgrader's `db student import`."""

from pathlib import Path

from course.grading.errors import GradingError
from course.grading.lms.people import People, Person
from course.grading.lms.sheet import Sheet

COLUMNS = ("id", "first_name", "last_name", "email", "lms_user_id")


def read_roster(path: Path) -> People:
    """The students of a CSV file with the column `id`, and any of the others.

    Raises GradingError if there is no such column, or an id is missing or stands there twice.
    """
    sheet = Sheet.read(path)
    if sheet.column("id") is None:
        raise GradingError(f"{path} has no column id. Its columns may be {', '.join(COLUMNS)}.")
    people: dict[str, Person] = {}
    rows: dict[str, int] = {}
    for number, row in enumerate(sheet.rows[1:], start=2):
        if not any(cell.strip() for cell in row):
            continue
        person = Person(*(sheet.cell(row, column) for column in COLUMNS))
        if not person.id:
            raise GradingError(f"{path}, row {number}: the student has no id.")
        if person.id in people:
            raise GradingError(f"{path}, row {number}: there is already a student with the id {person.id}.")
        people[person.id] = person
        rows[person.id] = number
    return People(people.values(), path.name, rows)
