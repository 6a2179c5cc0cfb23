"""`course bundle`: make the zip that students get."""

import argparse
import sys
from pathlib import Path

from course.files import ROOT


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = commands.add_parser(
        "bundle",
        help="make the zip that students get",
        description="The released notebooks, the decoder, what to install and how to start, in one zip. It "
        "holds no solution, no hidden check and nothing of grading. The same course makes the same zip.",
    )
    parser.add_argument("--to", type=Path, metavar="FILE.zip", help="default: dist/NAME-VERSION.zip")
    parser.add_argument("--assignment", metavar="NAME", help="default: the only one that there is")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Make the zip, and say where it is."""
    from course.bundling.bundle import bundle
    from course.bundling.errors import BundleError

    try:
        path, left_out = bundle(ROOT, options.assignment, options.to)
    except BundleError as error:
        print(error, file=sys.stderr)
        return 1
    for name in left_out:
        print(f"{name} is not in the zip, because no source makes it.", file=sys.stderr)
    print(path)
    return 0
