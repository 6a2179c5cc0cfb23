"""The two CSV files with grades that Moodle reads: a grading worksheet, and the import of its gradebook.

Of a worksheet it reads the columns Identifier, Grade, Last modified (grade) and the feedback, and passes over
an empty grade. An import takes an empty grade for one to be removed, so it has rows for scores alone.
"""

import csv
import io
from collections.abc import Sequence

from course.grading.errors import GradingError
from course.grading.export.placing import Filled, number, placed, writes_commas
from course.grading.export.totals import Total
from course.grading.lms import marks
from course.grading.lms.marks import Mark, Numbers
from course.grading.lms.sheet import Sheet

_EMAIL = ("Email address", "Email")
_ID = ("ID number", "Username")


def new_file(totals: Sequence[Total]) -> Filled:
    """A file for the gradebook's import, which maps the first columns to a user and the last to a grade."""
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    writer.writerow(["First name", "Last name", "ID number", "Email address", totals[0].assignment])
    settled = [total for total in totals if total.score is not None]
    for total in settled:
        person = total.person
        writer.writerow([person.first_name, person.last_name, person.id, person.email, number(total.score)])
    left = [total.person.id for total in totals if total.score is None]
    remarks = [f"Without a score, and so without a row: {', '.join(left)}."] if left else []
    return Filled(file.getvalue().encode(), len(settled), remarks)


def filled_in(sheet: Sheet, totals: Sequence[Total], numbers: Numbers = None) -> Filled:
    """A grading worksheet with our scores in its column Grade; the rest stays as it is.

    numbers : whether those in the column Identifier are the users' own; by default they need not be.

    Raises GradingError if this is no grading worksheet.
    """
    column = sheet.column("Grade")
    if column is None or sheet.column("Identifier") is None:
        raise GradingError(
            "This is no grading worksheet of Moodle's: it should have the columns Identifier and Grade. "
            "In Moodle, in English: Submissions > Actions > Download grading worksheet."
        )
    rows = [row for row in sheet.rows[1:] if any(cell.strip() for cell in row)]
    comma = writes_commas(sheet.cell(row, name) for row in rows for name in ("Maximum grade", "Grade"))
    whose, remarks = placed([(_name(sheet, row), _marks(sheet, row, numbers)) for row in rows], totals)
    count, maxima, locked = 0, set(), []
    for row, total in zip(rows, whose, strict=True):
        if total is None or total.score is None:
            continue
        maximum = sheet.cell(row, "Maximum grade").replace(",", ".")
        if maximum and _number(maximum) != total.max_score:
            maxima.add(maximum)
        if sheet.cell(row, "Grade can be changed").casefold() == "no":
            locked.append(_name(sheet, row))
            continue
        row += [""] * (column + 1 - len(row))
        row[column] = number(total.score, comma)
        count += 1
    if locked:
        remarks.insert(0, f"Moodle does not let these grades be changed: {', '.join(locked)}.")
    if maxima:
        remarks.insert(
            0,
            f"The maximum is {', '.join(sorted(maxima))} in Moodle and {number(totals[0].max_score)} here; "
            "scores are not scaled, and Moodle refuses those above its maximum.",
        )
    return Filled(sheet.to_bytes(), count, remarks)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _name(sheet: Sheet, row: list[str]) -> str:
    return sheet.cell(row, "Full name") or sheet.cell(row, "Identifier")


def _marks(sheet: Sheet, row: list[str], numbers: Numbers) -> list[Mark]:
    identifier = sheet.cell(row, "Identifier")
    return [
        marks.whole_name(sheet.cell(row, "Full name")),
        marks.email(sheet.cell(row, *_EMAIL)),
        *(marks.account(name, sheet.cell(row, name)) for name in _ID),
        # "Participant 123": collecting with hidden names makes it the student's id.
        marks.account("Identifier", identifier),
        *marks.number(identifier.rpartition(" ")[2], numbers, of_users=False),
    ]
