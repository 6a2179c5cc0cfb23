"""`course check`: run the checks on Python files that define a student's functions."""

import argparse
import json
import sys
from pathlib import Path


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
    """Judge files and print the results.

    Returns 0 if all could be judged, whatever the marks, 1 if not, 2 if the call is wrong.
    """
    from rich.console import Console

    from course.checking.judging import judge_files
    from course.checking.table import show
    from course.checks import NOTEBOOK_SEED
    from course.processors import processors

    if problem := _problem(options):
        print(problem, file=sys.stderr)
        return 2
    console = Console()
    if not console.is_terminal:
        console = Console(width=160)  # in a file or a pipe there is no edge to wrap at
    with Console(stderr=True).status("Starting") as status:
        results = judge_files(
            options.files,
            options.challenge,
            seed=NOTEBOOK_SEED if options.seed is None else options.seed,
            workers=processors() if options.workers is None else options.workers,
            progress=lambda done: status.update(f"{done} of {len(options.files)} files"),
        )
    if options.json:
        print(json.dumps([result.as_json() for result in results], indent=2))
    else:
        show(results, console)
    return 0 if all(result.judged for result in results) else 1


def _problem(options: argparse.Namespace) -> str:
    """What is wrong with the call, in a sentence; "" where nothing is."""
    from course.checks import CHALLENGES

    if options.challenge is not None and options.challenge not in CHALLENGES:
        return f"There is no challenge {options.challenge!r}; there are {', '.join(CHALLENGES)}."
    if options.seed is not None and options.seed < 0:
        return f"--seed is {options.seed}; it must not be negative."
    if options.workers is not None and options.workers < 1:
        return f"--workers is {options.workers}; it must be 1 or more."
    return next(filter(None, map(_file_problem, options.files)), "")


def _file_problem(name: str) -> str:
    """What is wrong with a file where it is clear without reading that this is no solution."""
    path = Path(name)
    if not path.exists():
        return f"There is no file {name!r}."
    if path.is_dir():
        return f"{name!r} is a folder; name the files in it, like {str(path / '*.py')!r}."
    if not path.is_file():
        return f"{name!r} is no ordinary file."
    if path.suffix == ".ipynb":
        return f"{name!r} is a notebook; `course check` reads Python files."
    return ""
