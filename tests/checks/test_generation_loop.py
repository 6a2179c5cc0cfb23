"""The checks of challenge 1, proved on the bank of right and wrong solutions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from submission_bank import (
    WrongSolution,
    assert_covers_the_catalogue,
    assert_full_marks,
    assert_loses_what_it_breaks,
    correct,
    functions,
    grade,
    wrong,
)

from course.checks import Call, DirectCandidate, checks_of, run_check
from course.checks.models import ScriptedModel

CHALLENGE = "generation_loop"
POINTS = {
    "greedy": 2,
    "budget": 1,
    "end_token": 1,
    "context": 1,
    "finish_reason": 1,
    "sampling": 2,
    "temperature": 1,
    "passes": 1,
}


def test_points() -> None:
    """For a check that is added, dropped or weighed anew without the challenge's ten points in mind."""
    assert {check.name: check.points for check in checks_of(CHALLENGE)} == POINTS
    assert sum(POINTS.values()) == 10


def test_bank_covers_the_catalogue() -> None:
    """For a misconception that no wrong solution stands for."""
    assert_covers_the_catalogue(CHALLENGE, "G", 16)


@pytest.mark.parametrize("seed", [0, 1, 2024])
@pytest.mark.parametrize("path", correct(CHALLENGE), ids=lambda path: path.stem)
def test_right_solutions_get_every_point(path: Path, seed: int) -> None:
    """For a check that asks for more than the contract does, and so fails another style."""
    assert_full_marks(CHALLENGE, path, seed)


@pytest.mark.parametrize("seed", [0, 2024])
@pytest.mark.parametrize("solution", wrong(CHALLENGE), ids=lambda solution: solution.path.stem)
def test_wrong_solutions_lose_exactly_what_they_break(solution: WrongSolution, seed: int) -> None:
    """For a slip that goes unseen, is blamed on something else, or costs points it did not break."""
    assert_loses_what_it_breaks(CHALLENGE, solution, seed)


@pytest.mark.parametrize("path", correct(CHALLENGE)[:4], ids=lambda path: path.stem)
def test_many_seeds(path: Path) -> None:
    """For inputs that only some seeds draw, such as a tie or a short prompt."""
    for seed in range(100, 115):
        assert all(result.status == "passed" for result in grade(CHALLENGE, functions(path), seed))


def test_same_seed_same_result() -> None:
    """For a check whose inputs come from anything but its seed."""
    solution = functions(wrong(CHALLENGE)[0].path)
    assert grade(CHALLENGE, solution, 3) == grade(CHALLENGE, solution, 3)
    assert grade(CHALLENGE, solution, 3) != grade(CHALLENGE, solution, 4)


class _OnlyPlainData:
    """A candidate that hands over plain data only, as a sandboxed one does."""

    def __init__(self, path: Path) -> None:
        self._inner = DirectCandidate(functions(path))

    def call(self, function: str, /, *arguments: object, **keywords: object) -> Call:
        sent = [_Proxy(item) if isinstance(item, ScriptedModel) else item for item in arguments]
        call = self._inner.call(function, *sent, **keywords)
        result: Any = call.result
        sent_back = json.loads(json.dumps([[int(token) for token in result[0]], result[1]]))
        return Call(sent_back, call.arguments, call.keywords)


class _Proxy:
    """A model seen through the contract's names."""

    def __init__(self, model: ScriptedModel) -> None:
        self.n_vocab, self.context_length = model.n_vocab, model.context_length
        self._model = model

    def logits(self, token_ids: Any) -> Any:
        return np.array(self._model.logits([int(token) for token in token_ids]).tolist())


@pytest.mark.parametrize("path", correct(CHALLENGE), ids=lambda path: path.stem)
def test_second_door(path: Path) -> None:
    """For a check that relies on the identity of an argument, which a sandbox does not keep."""
    results = [run_check(check, _OnlyPlainData(path), 6) for check in checks_of(CHALLENGE)]
    assert [str(result.message) for result in results if result.status != "passed"] == []
