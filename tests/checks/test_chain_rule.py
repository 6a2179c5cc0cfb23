"""The checks of challenge 2, proved on the bank of right and wrong solutions."""

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

from course.checks import Call, DirectCandidate, checks_of, reference, require, run_check
from course.checks.models import HistoryScript, ScriptedModel
from decoder_lib.scoring import token_log_probabilities

CHALLENGE = "chain_rule"
POINTS = {
    "rows": 2,
    "only_continuation": 1,
    "sum": 1,
    "temperature": 1,
    "stability": 1,
    "empty": 1,
    "single_pass": 1,
}
BOTH = ("token_log_probabilities", "sequence_log_probability")


def test_points() -> None:
    """For a check that is added, dropped or weighed anew without the challenge's eight points in mind."""
    assert {check.name: check.points for check in checks_of(CHALLENGE)} == POINTS
    assert sum(POINTS.values()) == 8


def test_bank_covers_the_catalogue() -> None:
    """For a misconception that no wrong solution stands for."""
    assert_covers_the_catalogue(CHALLENGE, "S", 9)


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


@pytest.mark.parametrize("path", correct(CHALLENGE)[:3], ids=lambda path: path.stem)
def test_many_seeds(path: Path) -> None:
    """For inputs that only some seeds draw, such as a share next to 1."""
    for seed in range(100, 108):
        assert all(result.status == "passed" for result in grade(CHALLENGE, functions(path), seed))


def test_same_seed_same_result() -> None:
    """For a check whose inputs come from anything but its seed."""
    solution = functions(wrong(CHALLENGE)[0].path)
    assert grade(CHALLENGE, solution, 3) == grade(CHALLENGE, solution, 3)
    assert grade(CHALLENGE, solution, 3) != grade(CHALLENGE, solution, 4)


def test_reference_agrees_with_the_library() -> None:
    """For a reference that is itself wrong: two computations written apart must give the same numbers."""
    script, rng = HistoryScript(9, 4), np.random.default_rng(1)
    for length, count, temperature in ((1, 4, 1.0), (3, 1, 0.5), (5, 7, 2.0), (2, 0, 1.0)):
        prompt, after = rng.integers(9, size=length).tolist(), rng.integers(9, size=count).tolist()
        model: Any = ScriptedModel(script, 32)
        ours = reference.token_log_probabilities(script, prompt, after, temperature)
        assert ours.shape == (count,)
        theirs = token_log_probabilities(model, prompt, after, temperature)
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_notebook_cells(capsys: pytest.CaptureFixture[str]) -> None:
    """For a check that calls a function which its cell doesn't hand over."""
    solution = functions(correct(CHALLENGE)[0])
    for name in POINTS:
        given = BOTH[:1] if name in ("rows", "temperature") else BOTH
        require(CHALLENGE, name, **{function: solution[function] for function in given})
    assert capsys.readouterr().out.count("passed: ") == 7


@pytest.mark.parametrize("missing", BOTH)
def test_missing_function_is_named(missing: str) -> None:
    """For a solution with one of the two functions: the message says which one the check looked for."""
    solution = functions(correct(CHALLENGE)[0])
    del solution[missing]
    if missing == BOTH[0]:  # the other one stands on its own here
        alone = next(path for path in correct(CHALLENGE) if path.stem == "sequence_stands_alone")
        solution = {BOTH[1]: functions(alone)[BOTH[1]]}
    lost = [found for found in grade(CHALLENGE, solution, 0) if found.status != "passed"]
    assert {found.name for found in lost} == set(POINTS) - (
        {"sum"} if missing == BOTH[0] else {"rows", "temperature"}
    )
    assert all(
        f"calls `{missing}`, which is not defined" in " ".join(str(found.message).split()) for found in lost
    )


JUNK: dict[str, tuple[Any, str]] = {
    "none": (None, "None"),
    "string": ("abc", "the string 'abc'"),
    "dictionary": ({0: 1.0}, "an object of type dict"),
    "column": (np.zeros((3, 1)), "a float64 array of shape (3, 1)"),
    "booleans": ([True, False], "True"),
    "complex": (np.zeros(3, dtype=complex), "a complex128 array of shape (3,)"),
    "texts": (["a"], "the string 'a'"),
    "huge integer": ([10**400], "an integer that no float can hold"),
    "nested": ([[-1.0], [-2.0]], "a list of 1 item (float)"),
    "far too many": (np.zeros(10**6), "1000000 numbers"),
}


@pytest.mark.parametrize(("result", "named"), JUNK.values(), ids=JUNK.keys())
def test_junk_is_named(result: Any, named: str) -> None:
    """For a check that raises, passes or falls silent when the result has another shape."""
    results = grade(CHALLENGE, {name: lambda *a, **k: result for name in BOTH}, 0)
    assert all(found.status == "failed" and found.points == 0 for found in results if found.name != "sum")
    assert all(named in str(found.message) for found in results if found.name != "sum"), results[0].message
    assert not any(found.status == "passed" for found in results)
    assert all(len(str(found.message)) < 2_000 for found in results)


def _numbers(value: float) -> dict[str, Any]:
    return {
        BOTH[0]: lambda model, prompt, continuation, temperature=1.0: np.full(len(continuation), value),
        BOTH[1]: lambda model, prompt, continuation, temperature=1.0: value * len(continuation),
    }


@pytest.mark.parametrize("value", [0.0, float("nan"), float("-inf"), float("inf")])
def test_stubs_earn_nothing(value: float) -> None:
    """For a comparison with NaN, or of nothing, that holds whatever came."""
    assert not [found.name for found in grade(CHALLENGE, _numbers(value), 0) if found.status == "passed"]


def test_constant_stub_earns_the_empty_case_only() -> None:
    """For a function that never asks the model: nothing but the empty continuation can be right."""
    passed = [found.name for found in grade(CHALLENGE, _numbers(-1.0), 0) if found.status == "passed"]
    assert passed == ["empty"]


def _loops(model: Any, *arguments: Any, **keywords: Any) -> None:
    while True:
        model.next_logits([[0]])


def _raises(*arguments: Any, **keywords: Any) -> None:
    raise LookupError("x" * 10_000)


@pytest.mark.parametrize(("function", "named"), [(_loops, "does not end"), (_raises, "LookupError: xxx")])
def test_behaviour_is_named(function: Any, named: str) -> None:
    """For an endless loop of `next_logits`, or a student's exception that is lost."""
    results = grade(CHALLENGE, dict.fromkeys(BOTH, function), 0)
    assert all(found.status == "error" and named in str(found.message) for found in results)
    assert all(len(str(found.message)) < 2_000 for found in results)


class _OnlyPlainData:
    """A candidate that hands over plain data only, as a sandboxed one does."""

    def __init__(self, path: Path) -> None:
        self._inner = DirectCandidate(functions(path))

    def call(self, function: str, /, *arguments: object, **keywords: object) -> Call:
        sent = [_Proxy(item) if isinstance(item, ScriptedModel) else item for item in arguments]
        call = self._inner.call(function, *sent, **keywords)
        sent_back = json.loads(json.dumps(np.asarray(call.result, dtype=float).tolist()))
        return Call(sent_back, call.arguments, call.keywords, call.warnings)


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
