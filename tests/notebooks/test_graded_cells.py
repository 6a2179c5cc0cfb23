"""Graded cells, visible asserts and hidden call together, on the bank: a slip fails its own checks only."""

import contextlib
import functools
import io
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType
from typing import Any

import numpy as np
import pytest
from execution import MASTERS

from course.building.master import grade_id_of
from course.checks import CHALLENGES, checks_of

sys.path.append(str(Path(__file__).parents[1] / "checks"))
from submission_bank import correct, wrong

SECONDS = 5  # of CPU time for one cell; the slowest that ends takes one
RIGHT = [(challenge, path) for challenge in CHALLENGES for path in correct(challenge)]
WRONG = [(challenge, solution) for challenge in CHALLENGES for solution in wrong(challenge)]


class EndlessError(BaseException):
    """A cell that does not end; not an Exception, so that no solution catches it."""


@contextlib.contextmanager
def limited() -> Iterator[None]:
    """End what is still running after its CPU time."""

    def stop(*_: object) -> None:
        raise EndlessError(f"more than {SECONDS} seconds of CPU time")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def unwritten(*_: object, **__: object) -> None:
    """A function that the student has not written yet."""
    raise NotImplementedError("write your solution here, then run this cell again")


@functools.cache
def section(challenge: str) -> tuple[dict[str, Any], dict[str, CodeType]]:
    """A challenge's section: what it gives a solution to start from, and each graded cell by its check."""
    start = challenge.replace("_", "-") + "-"
    for master in MASTERS.values():
        sources = {grade_id_of(cell): cell.source for cell in master.notebook.cells if cell.metadata}
        graded = {
            grade_id.removeprefix(start).replace("-", "_"): compile(sources[grade_id], grade_id, "exec")
            for cell in master.notebook.cells
            if (grade_id := grade_id_of(cell) or "").startswith(start) and cell.metadata["nbgrader"]["grade"]
        }
        if graded:
            functions = {check.function for check in checks_of(challenge)}
            ready: dict[str, Any] = dict.fromkeys(functions, unwritten)
            with contextlib.redirect_stdout(io.StringIO()):
                exec(sources[f"set-up-{master.name[:2]}"], ready)
            return ready, graded
    raise AssertionError(f"no section has graded cells for {challenge}")


def failures(challenge: str, path: Path) -> dict[str, str]:
    """The graded cells that fail in a notebook with this solution, and what each says."""
    ready, graded = section(challenge)
    notebook = dict(ready)
    said = {}
    global_state = np.random.get_state()  # noqa: NPY002
    with contextlib.redirect_stdout(io.StringIO()), np.errstate():
        exec(compile(path.read_text(), path.name, "exec", dont_inherit=True), notebook)
        for check, code in graded.items():
            try:
                with limited():
                    exec(code, notebook)
            except (Exception, EndlessError, SystemExit) as error:
                said[check] = f"{type(error).__name__}: {error}"
    np.random.set_state(global_state)  # noqa: NPY002
    return said


@pytest.mark.parametrize("challenge", CHALLENGES)
def test_every_check_has_its_cell(challenge):
    """Bug: a check without a cell, which costs nobody anything, or a cell that the tests below leave out."""
    assert set(section(challenge)[1]) == {check.name for check in checks_of(challenge)}


@pytest.mark.filterwarnings("ignore")  # a solution's own; a notebook shows them and goes on
@pytest.mark.parametrize(
    ("challenge", "path"), RIGHT, ids=[f"{challenge}-{path.stem}" for challenge, path in RIGHT]
)
def test_a_right_solution_passes_every_cell(challenge, path):
    """Bug: a visible assert asks for one style, or fails for a print or a warning that was left in."""
    assert failures(challenge, path) == {}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("challenge", "solution"),
    WRONG,
    ids=[f"{challenge}-{solution.path.stem}" for challenge, solution in WRONG],
)
def test_a_slip_fails_the_cells_of_its_checks_and_no_others(challenge, solution):
    """Bug: a visible assert that is broader than its check, so that one slip costs the points of others."""
    said = failures(challenge, solution.path)
    assert {check: said.get(check, "passed") for check in said.keys() ^ solution.fails} == {}
