"""The bank of solutions through the sandbox's door: each loses what it loses in a notebook."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from course.checks import CHALLENGES, run_check
from course.grading.limits import Limits
from course.grading.sandbox import Sandbox, SandboxedCandidate

sys.path.append(str(Path(__file__).parents[2] / "checks"))
from submission_bank import correct, wrong

SEED = 5


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(Limits()) as box:
        yield box


def results(sandbox: Sandbox, challenge: str, path: Path) -> dict[str, tuple[str, str | None]]:
    """How each check ended, and the misconception it named."""
    with sandbox.open() as worker:
        worker.seed(SEED)
        worker.run_cell(path.read_text(), 20)
        candidate = SandboxedCandidate(worker, 20, {})
        found = [run_check(check, candidate, SEED) for check in CHALLENGES[challenge]]
    return {result.name: (result.status, result.misconception) for result in found}


@pytest.mark.parametrize("challenge", CHALLENGES)
def test_right_solutions_pass(sandbox: Sandbox, challenge: str) -> None:
    """Bug: a right solution loses points by the way to the sandbox and back."""
    for path in correct(challenge):
        assert {status for status, _ in results(sandbox, challenge, path).values()} == {"passed"}, path.name


@pytest.mark.parametrize("challenge", CHALLENGES)
def test_wrong_solutions_lose_what_they_lose_in_a_notebook(sandbox: Sandbox, challenge: str) -> None:
    """Bug: a slip goes unseen from outside the process, or is taken for another one."""
    for solution in wrong(challenge)[::3]:  # the whole bank takes minutes
        found = results(sandbox, challenge, solution.path)
        lost = {name: misconception for name, (status, misconception) in found.items() if status != "passed"}
        assert set(lost) == solution.fails, solution.path.name
        assert lost[solution.fails_first] == solution.misconception, solution.path.name
