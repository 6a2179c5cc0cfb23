"""`course export`: the marks of a class as CSV, for a spreadsheet, for Canvas or for Moodle."""

import argparse
import sys
from pathlib import Path

from course.files import ROOT

_ABOUT = """\
Write the marks of a class. A score is the gradebook's: automatic and manual points and extra credit, less
the late penalty. A notebook that failed or needs a person has no score, and is never written as a zero.

csv      a row a notebook, with its status; with --totals a row a student. A total is empty while a notebook
         failed or needs a person, and where nothing was handed in; a notebook that is missing adds nothing
         to it. Text that a spreadsheet would take for a formula (it begins with = + - @) gets an apostrophe
         in front, ids too.
canvas   for Grades > Import. With --students, the file from Grades > Export: its rows and ids stay as they
         are, and the column of the assignment, or of a notebook, is filled in. A cell without a score stays
         as it is.
moodle   with --students, an assignment's grading worksheet: its column Grade is filled in and nothing else
         is changed. Without, a file for Grades > Import > CSV file.

Files for Canvas and Moodle hold ids exactly as the platform has them: open them there, not in a spreadsheet.
"""


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = commands.add_parser(
        "export",
        help="write the marks of a class as CSV, for Canvas or for Moodle",
        description=_ABOUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "folder", nargs="?", type=Path, default=ROOT, metavar="FOLDER", help="default: the course"
    )
    parser.add_argument("--format", choices=["csv", "canvas", "moodle"], default="csv", help="default: csv")
    parser.add_argument(
        "--to", type=Path, metavar="FILE", help="default: grades.csv or grades-FORMAT.csv in FOLDER"
    )
    parser.add_argument(
        "--students", type=Path, metavar="FILE", help="what Canvas or Moodle exported, to be filled in"
    )
    parser.add_argument(
        "--numbers",
        choices=["users", "ignore"],
        help="users: the numbers in that file are the users' own, as in lms_user_id; ignore: they are "
        "something else. Default: users for Canvas; for Moodle a number proves nothing, but can contradict",
    )
    parser.add_argument("--assignment", action="append", default=[], metavar="NAME", help="only this one")
    parser.add_argument("--totals", action="store_true", help="for csv: a row a student")
    parser.add_argument("--db", metavar="URL", help="the gradebook; default: gradebook.db in FOLDER")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the file, and say what its reader should know."""
    from course.grading.errors import GradingError
    from course.grading.export.writing import export
    from course.grading.settings import load_settings

    if options.format == "csv" and options.students:
        print("--students is for --format canvas and --format moodle.", file=sys.stderr)
        return 2
    if options.format != "csv" and options.totals:
        print("--totals is for --format csv; Canvas and Moodle get totals anyway.", file=sys.stderr)
        return 2
    try:
        exported = export(
            options.folder.resolve(),
            load_settings(ROOT),
            options.format,
            to=options.to,
            students=options.students,
            assignments=options.assignment,
            by_student=options.totals,
            numbers=options.numbers,
            db_url=options.db,
        )
    except GradingError as error:
        print(error, file=sys.stderr)
        return 1
    for remark in exported.remarks:
        print(remark)
    print(exported.summary)
    print(exported.path)
    return 0
