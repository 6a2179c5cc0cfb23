"""`course regrade`: grade again after a check has changed, and see which marks change."""

import argparse

from course.commands.classes import add_arguments, asked_for, ending
from course.files import ROOT


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = commands.add_parser("regrade", help="grade again what was graded with other checks")
    add_arguments(parser)
    parser.add_argument(
        "--dry-run", action="store_true", help="show which marks would change, and write nothing"
    )
    parser.add_argument("--all", action="store_true", help="also what was graded with these checks")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Grade again, and print what changes."""
    return ending(lambda: _regrade(options))


def _regrade(options: argparse.Namespace) -> None:
    from course.commands.progress import make_console, showing
    from course.grading.runs.regrade import regrade_class
    from course.grading.runs.table import show_changes

    console, folder = make_console(), options.folder.resolve()
    arguments, apply = asked_for(options), not options.dry_run
    with showing(console) as progress:
        found = regrade_class(
            ROOT, folder, apply=apply, everything=options.all, progress=progress, **arguments
        )
    show_changes(found, console, folder, applied=apply)
