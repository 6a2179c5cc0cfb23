"""Reads a class's folder and writes the report."""

from __future__ import annotations

from pathlib import Path

from course.files import ROOT
from course.grading.errors import GradingError
from course.grading.records import latest
from course.grading.report.links import Links
from course.grading.report.page import report_page
from course.grading.runs.folder import ClassFolder
from course.grading.standing import Given
from course.keeping import Keeper, what_is_wrong_with_target


def write_report(folder: Path, to: Path, db_url: str | None = None) -> int:
    """Write the report on a class; returns how many notebooks it is about.

    db_url : of the gradebook; by default what nbgrader_config.py says, else gradebook.db in the folder, if
        it is there.

    Raises GradingError if the class was never graded, the gradebook cannot be read, or the report cannot be
    written.
    """
    if wrong := what_is_wrong_with_target(to, ".html"):
        raise GradingError(wrong)
    log = ClassFolder(folder).records
    if not log.is_file():
        raise GradingError(f"There is no {log}. Grade the class first: course grade {folder}")
    records = latest(log).values()
    page = report_page(records, _given(folder, db_url), Links(folder, to))
    try:
        with Keeper(folder) as keeper:
            keeper.write(to, page)
    except OSError as error:
        raise GradingError(f"The report cannot be written to {to}: {error.strerror}.") from error
    return len(records)


def _given(folder: Path, asked_for: str | None) -> Given:
    # Imported here, because nbgrader takes seconds to import.
    from course.grading.gradebook.database import in_sentences, open_gradebook
    from course.grading.gradebook.rows import read_class
    from course.grading.settings import database_url, load_settings

    settings = load_settings(ROOT)
    in_folder = database_url(settings, folder) == f"sqlite:///{folder / 'gradebook.db'}"
    if not asked_for and in_folder and not (folder / "gradebook.db").exists():
        return Given()
    url, course_id = database_url(settings, folder, asked_for), str(settings.CourseDirectory.course_id)
    with open_gradebook(url, course_id) as gradebook, in_sentences(gradebook.engine.url):
        return read_class(gradebook.db)
