"""What `course grade` and `course regrade` have in common: their arguments, and how they end."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from course.files import ROOT

_NO_SANDBOX = (
    "Warning: without a sandbox. Whatever students wrote runs with your rights: it can read and change your "
    "files, the gradebook among them, and use the network."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of a command that grades a class."""
    parser.add_argument(
        "folder", nargs="?", type=Path, default=ROOT, metavar="FOLDER", help="default: the course"
    )
    parser.add_argument(
        "--student", nargs="+", action="extend", default=[], metavar="ID", help="default: all"
    )
    parser.add_argument(
        "--notebook", nargs="+", action="extend", default=[], metavar="NAME", help="default: all"
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--workers", type=_number, metavar="N", help="notebooks at a time; default: one a processor"
    )
    where.add_argument(
        "--scheduler", metavar="ADDRESS", help="of a Dask cluster to grade on, tcp://192.168.1.5:8786 say"
    )
    parser.add_argument(
        "--db",
        metavar="URL",
        help="the gradebook, postgresql+psycopg://user@host/name say; default: gradebook.db in FOLDER",
    )
    parser.add_argument(
        "--no-sandbox", action="store_true", help="run student code with your own rights (dangerous)"
    )


def asked_for(options: argparse.Namespace) -> dict[str, Any]:
    """The arguments as grading takes them."""
    from course.grading.runs.selection import Selection

    if options.no_sandbox:
        print(_NO_SANDBOX, file=sys.stderr)
    return {
        "only": Selection(students=options.student, notebooks=options.notebook),
        "db_url": options.db,
        "workers": options.workers,
        "scheduler": options.scheduler,
        "bubblewrap": not options.no_sandbox,
    }


def ending(work: Callable[[], None]) -> int:
    """Do a command's work; the exit code, after a sentence where it did not get to its end."""
    from course.grading.errors import GradingError

    try:
        work()
    except GradingError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped. What has been graded is kept; the same command goes on from there.", file=sys.stderr)
        return 130
    return 0


def _number(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("it should be 1 or more")
    return number
