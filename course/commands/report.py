"""`course report`: one page about a class, for its instructor."""

import argparse
import sys
from pathlib import Path

from course.files import ROOT


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = commands.add_parser("report", help="write a page about a class that has been graded")
    parser.add_argument(
        "folder", nargs="?", type=Path, default=ROOT, metavar="FOLDER", help="default: the course"
    )
    parser.add_argument("--to", type=Path, metavar="FILE", help="default: FOLDER/report.html")
    parser.add_argument("--db", metavar="URL", help="of the gradebook; default: as for `course grade`")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the report, and say where it is."""
    from course.grading.errors import GradingError
    from course.grading.report import write_report

    folder = options.folder.resolve()
    to = (options.to or folder / "report.html").resolve()
    try:
        amount = write_report(folder, to, options.db)
    except GradingError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{to}: {amount} {'notebook' if amount == 1 else 'notebooks'}")
    return 0
