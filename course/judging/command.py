"""What `course check` does: look at what it was asked, judge the files, print."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from course.checks import CHALLENGES, NOTEBOOK_SEED
from course.judging.pool import judge_files
from course.judging.table import show
from course.processors import processors


class UsageError(Exception):
    """The command was called wrongly. Its text is a sentence."""


def check_files(
    files: Sequence[str],
    challenge: str | None,
    seed: int | None,
    workers: int | None,
    *,
    as_json: bool,
) -> int:
    """Judge files and print the results; returns 0 if all could be judged, whatever the marks, 1 if not."""
    if challenge is not None and challenge not in CHALLENGES:
        raise UsageError(f"There is no challenge {challenge!r}; there are {', '.join(CHALLENGES)}.")
    if seed is not None and seed < 0:
        raise UsageError(f"--seed is {seed}; it must not be negative.")
    if workers is not None and workers < 1:
        raise UsageError(f"--workers is {workers}; it must be 1 or more.")
    for file in files:
        _require_file(file)

    console = Console()
    if not console.is_terminal:
        console = Console(width=160)  # in a file or a pipe there is no edge to wrap at
    with Console(stderr=True).status("Starting") as status:
        results = judge_files(
            files,
            challenge,
            seed=NOTEBOOK_SEED if seed is None else seed,
            workers=processors() if workers is None else workers,
            progress=lambda done: status.update(f"{done} of {len(files)} files"),
        )
    if as_json:
        print(json.dumps([result.as_json() for result in results], indent=2))
    else:
        show(results, console)
    return 0 if all(result.judged for result in results) else 1


def _require_file(name: str) -> None:
    """UsageError where it is clear without reading that this is no solution."""
    path = Path(name)
    if not path.exists():
        raise UsageError(f"There is no file {name!r}.")
    if path.is_dir():
        raise UsageError(f"{name!r} is a folder; name the files in it, like {str(path / '*.py')!r}.")
    if not path.is_file():
        raise UsageError(f"{name!r} is no ordinary file.")
    if path.suffix == ".ipynb":
        raise UsageError(f"{name!r} is a notebook; `course check` reads Python files.")
