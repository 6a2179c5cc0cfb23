"""`course check`: run the checks on Python files that define a student's functions."""

import argparse
import sys


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = commands.add_parser(
        "check", help="run the checks on Python files that define a student's functions"
    )
    parser.add_argument("files", nargs="+", metavar="FILE.py")
    parser.add_argument("--challenge", metavar="NAME", help="default: found from the names of the functions")
    parser.add_argument("--json", action="store_true", help="print a JSON list, one object a file")
    parser.add_argument(
        "--seed", type=int, metavar="N", help="of the checks' inputs; default: the notebooks'"
    )
    parser.add_argument(
        "--workers", type=int, metavar="N", help="files at the same time; default: one a processor"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Judge the files and print what came of each."""
    from course.judging.command import UsageError, check_files

    try:
        return check_files(
            options.files, options.challenge, options.seed, options.workers, as_json=options.json
        )
    except UsageError as error:
        print(error, file=sys.stderr)
        return 2
