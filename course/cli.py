"""The `course` command: build the course, hand it out, grade a class, look at what came of it."""

import argparse
import io
import os
import sys
from collections.abc import Sequence

from course.commands import build, bundle, check, collect, export, grade, regrade, report, update

_COMMANDS = (update, build, bundle, collect, grade, regrade, report, export, check)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a subcommand; returns 0 if it did its work, 1 if it could not, 2 if it was called wrongly."""
    from course.building import MasterError

    options = _parser().parse_args(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A path may hold what the terminal's encoding lacks; an escape is better than no word at all.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        return int(options.run(options))
    except MasterError as error:
        print(f"A master cannot be built:\n{error}", file=sys.stderr)
    except BrokenPipeError:  # whoever read along has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        print(f"{error.filename or 'A file'}: {error.strerror or error}.", file=sys.stderr)
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="course", description="Build the course, hand it out, grade a class, and see what came of it."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in _COMMANDS:
        command.add(commands)
    return parser
