"""`course grade`: grade a class."""

import argparse

from course.commands.classes import add_arguments, asked_for, ending
from course.files import ROOT


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = commands.add_parser(
        "grade", help="grade FOLDER/submitted/<student>/<assignment>/<notebook>.ipynb"
    )
    add_arguments(parser)
    parser.add_argument("--force", action="store_true", help="grade again what has not changed")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Grade, and print the table."""
    return ending(lambda: _grade(options))


def _grade(options: argparse.Namespace) -> None:
    from course.commands.progress import make_console, showing
    from course.grading.runs.run import grade_class
    from course.grading.runs.table import show

    console, folder = make_console(), options.folder.resolve()
    arguments = asked_for(options)
    with showing(console) as progress:
        report = grade_class(ROOT, folder, force=options.force, progress=progress, **arguments)
    show(report, console, folder)
    print(f"Scores: {report.gradebook}  Pages for students: {folder / 'feedback'}")
