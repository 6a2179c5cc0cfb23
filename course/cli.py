"""The `course` command: build the course, grade a class, check a solution."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a subcommand; returns 0 if it did its work, 1 if it could not, 2 if it was called wrongly."""
    from course.building import MasterError

    options = _parser().parse_args(arguments)
    try:
        return int(options.run(options))
    except MasterError as error:
        print(f"A master cannot be built:\n{error}", file=sys.stderr)
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="course", description="Build the course from source/, grade a class, and check solutions."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    build = commands.add_parser("build", help="make release/, notebooks/ and the sample class from source/")
    build.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 if a committed file is stale"
    )
    build.set_defaults(run=_build)

    grade = commands.add_parser(
        "grade", help="grade FOLDER/submitted/<student>/<assignment>/<notebook>.ipynb"
    )
    grade.add_argument(
        "folder", nargs="?", type=Path, default=ROOT, metavar="FOLDER", help="default: the course"
    )
    grade.add_argument("--force", action="store_true", help="grade again what has not changed")
    grade.set_defaults(run=_grade)

    check = commands.add_parser(
        "check", help="run the checks on Python files that define a student's functions"
    )
    check.add_argument("files", nargs="+", metavar="FILE.py")
    check.add_argument("--challenge", metavar="NAME", help="default: found from the names of the functions")
    check.add_argument("--json", action="store_true", help="print a JSON list, one object a file")
    check.add_argument("--seed", type=int, metavar="N", help="of the checks' inputs; default: the notebooks'")
    check.add_argument(
        "--workers", type=int, metavar="N", help="files at the same time; default: one a processor"
    )
    check.set_defaults(run=_check)
    return parser


def _build(options: argparse.Namespace) -> int:
    from course.building import build, differences

    if options.check:
        stale = differences(ROOT)
        for line in stale:
            print(line)
        print(
            "Run `course build` and commit what it writes."
            if stale
            else "Everything is as the build makes it."
        )
        return 1 if stale else 0
    changed = build(ROOT)
    for path in changed:
        print(path)
    print(f"{len(changed)} files changed.")
    return 0


def _grade(options: argparse.Namespace) -> int:
    from rich.console import Console

    from course.grading.errors import GradingError
    from course.grading.run import grade_class
    from course.grading.table import show

    console = Console()
    if not console.is_terminal:
        console = Console(width=160)  # in a file or a pipe there is no edge to wrap at
    folder = options.folder.resolve()
    try:
        with console.status("Reading the masters") as status:
            report = grade_class(
                ROOT, folder, force=options.force, progress=lambda what: status.update(f"Grading {what}")
            )
    except GradingError as error:
        print(error, file=sys.stderr)
        return 1
    show(report, console)
    print(f"Scores: {folder / 'gradebook.db'}  Pages for students: {folder / 'feedback'}")
    return 0


def _check(options: argparse.Namespace) -> int:
    from course.judging.command import UsageError, check_files

    try:
        return check_files(
            options.files, options.challenge, options.seed, options.workers, as_json=options.json
        )
    except UsageError as error:
        print(error, file=sys.stderr)
        return 2
