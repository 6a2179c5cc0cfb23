"""Lets nbgrader's own commands, and formgrader's buttons, release and grade the way `course` does."""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from nbgrader.converters import Autograde, GenerateAssignment, GenerateFeedback, GenerateSolution
from nbgrader.converters.base import NbGraderException

from course.grading.nbgrader_side.exchanging import register_masters, stage

# As nbgrader has them, before `install` has put anything in their place.
GENERATE_ASSIGNMENT, GENERATE_SOLUTION = GenerateAssignment.start, GenerateSolution.start


def install(root: Path) -> None:
    """Put this path in place of nbgrader's converters, for the course at `root`.

    No setting can do it: nbgrader's commands and formgrader name the converters outright, and what a setting
    can exchange, the steps of a converter, runs after folders have been deleted and submissions copied with
    their attachments, and in one process.
    """
    Autograde.start = lambda converter: _autograde(converter, root)
    GenerateFeedback.start = lambda converter: _generate_feedback(converter, root)
    GenerateAssignment.start = lambda converter: _generate_assignment(converter, root)
    GenerateSolution.start = lambda converter: stage(converter, GENERATE_SOLUTION, "solution_directory", root)


def _generate_assignment(converter: Any, root: Path) -> None:
    """Make the students' version. Raises NbGraderException if it cannot be made; nothing is changed then."""
    from course.grading.errors import GradingError

    if not converter.no_database:
        try:
            register_masters(converter)
        except GradingError as error:
            raise _stopped(converter, str(error)) from error
    converter.no_database = True  # nbgrader itself refuses once a class has been graded
    converter.config.SaveCells.enabled = False
    stage(converter, GENERATE_ASSIGNMENT, "release_directory", root)


def _autograde(converter: Any, root: Path) -> None:
    """Grade the submissions that the command names. Raises NbGraderException if one could not be graded."""
    # Imported here, because nbgrader reads the settings for each of its commands.
    from course.building import MasterError
    from course.grading.errors import GradingError
    from course.grading.records import Status
    from course.grading.runs.run import grade_class
    from course.grading.runs.selection import Selection
    from course.grading.runs.table import summary
    from course.grading.submissions.intake import why_astray

    courses, log = converter.coursedir, converter.log
    folder = Path(courses.root)
    students = _students(converter, folder / "submitted")
    try:
        report = grade_class(
            root,
            folder,
            force=converter.force,
            only=Selection(students, [courses.assignment_id], _notebooks(converter, root)),
            db_url=courses.db_url,
            progress=lambda done, total, what: log.info("%s of %s: %s", done, total, what or "grading"),
        )
    except (GradingError, MasterError) as error:
        raise _stopped(converter, str(error)) from error
    failed = [record for record in report.records if record.status == Status.FAILED]
    for record in failed:
        log.error("%s, %s was not graded: %s", record.student, record.notebook, record.problem)
    for stray in report.strays:
        log.warning("%s: %s", why_astray(stray), stray)
    log.info("%s", summary(report))
    if failed:
        raise _stopped(
            converter,
            f"{len(failed)} of {len(report.records)} notebooks could not be graded; the reasons are above. "
            "All others have been. In formgrader these wait for a person, without a score.",
        )


def _generate_feedback(converter: Any, root: Path) -> None:
    """Write students' pages once more, with the marks and comments that persons gave since.

    Raises NbGraderException if there is nothing to write them from.
    """
    from course.building.outputs import MASTERS
    from course.grading.errors import GradingError
    from course.grading.gradebook.writer import GradebookWriter
    from course.grading.masters import load_masters
    from course.grading.records import Status, latest
    from course.grading.runs.folder import ClassFolder
    from course.grading.runs.lock import only_run_in
    from course.grading.runs.results import Results
    from course.grading.settings import load_settings
    from course.keeping import Keeper

    courses, log = converter.coursedir, converter.log
    folder = ClassFolder(Path(courses.root))
    graded = [
        record
        for record in latest(folder.records).values()
        if record.assignment == courses.assignment_id and record.status != Status.MISSING
    ]
    students = _meant_students(courses, {record.student for record in graded})
    notebooks = _meant({record.notebook for record in graded}, courses.notebook_id)
    records = [record for record in graded if record.student in students and record.notebook in notebooks]
    if not records:
        raise _stopped(
            converter,
            f"Nothing of {courses.assignment_id} by {courses.student_id} has been graded. "
            f'First run: nbgrader autograde "{courses.assignment_id}"',
        )
    try:
        masters = load_masters(root / MASTERS)
        with (
            only_run_in(folder.path),
            GradebookWriter(load_settings(root), courses.db_url) as writer,
            Keeper(folder.path) as keeper,
        ):
            results = Results(folder, writer, masters, keeper)
            gone = []
            for record in records:
                try:
                    results.renew_page(record)
                except (OSError, KeyError, ValueError):  # its file, its master or its cells
                    gone.append(f"{record.student}, {record.notebook}")
                else:
                    log.info("Wrote %s", folder.page(record))
    except GradingError as error:
        raise _stopped(converter, str(error)) from error
    if gone:
        raise _stopped(
            converter,
            f"What was graded is not there any more, or its master is another: {'; '.join(gone)}. "
            "The other pages have been written. Grade these again: "
            f'nbgrader autograde "{courses.assignment_id}"',
        )


def _stopped(converter: Any, sentence: str) -> NbGraderException:
    """What nbgrader's commands end with: they exit with 1 then, and formgrader shows the log."""
    converter.log.error("%s", sentence)
    return NbGraderException(sentence)


def _students(converter: Any, submitted: Path) -> list[str]:
    """Those who are meant and have a folder; an empty list means all."""
    courses = converter.coursedir
    everybody = courses.student_id == "*" and not courses.student_id_exclude and converter.create_student
    if everybody or not submitted.is_dir():  # that there are no submissions is said later
        return []
    meant = _meant_students(courses, {path.name for path in submitted.iterdir() if path.is_dir()})
    if not converter.create_student:
        meant = _in_gradebook(converter, meant)
    if not meant:
        raise _stopped(
            converter, f"No student in {submitted} is meant by {courses.student_id}, so nothing was graded."
        )
    return meant


def _in_gradebook(converter: Any, students: list[str]) -> list[str]:
    """Those whom the gradebook knows: the setting `create_student` is off."""
    from nbgrader.api import Gradebook

    with Gradebook(converter.coursedir.db_url, converter.coursedir.course_id) as gradebook:
        known = {student.id for student in gradebook.students}
    for student in students:
        if student not in known:
            converter.log.error("No student with ID '%s' exists in the database", student)
    return [student for student in students if student in known]


def _notebooks(converter: Any, root: Path) -> list[str]:
    """The graded notebooks that are meant; an empty list means all."""
    from course.building.outputs import MASTERS
    from course.grading.masters import load_masters

    courses = converter.coursedir
    if courses.notebook_id == "*":
        return []
    masters = [each.name for each in load_masters(root / MASTERS) if each.assignment == courses.assignment_id]
    meant = _meant(set(masters), courses.notebook_id)
    if not meant:
        raise _stopped(
            converter,
            f"No graded notebook of {courses.assignment_id} is meant by {courses.notebook_id}; there are "
            f"{_listed(masters)}.",
        )
    return meant


def _meant_students(courses: Any, names: set[str]) -> list[str]:
    excluded = courses.student_id_exclude.split(",")
    return [name for name in _meant(names, courses.student_id) if name not in excluded]


def _meant(names: set[str], pattern: str) -> list[str]:
    """The names that a pattern is for. formgrader gives a name as it is, brackets and all, in its place."""
    return [pattern] if pattern in names else sorted(name for name in names if fnmatchcase(name, pattern))


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"
