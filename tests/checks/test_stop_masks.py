"""The checks of challenge 4, proved on the bank of right and wrong solutions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
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
from course.checks.models import MOST_CALLS, HistoryScript, ScheduleScript, ScriptedModel
from course.checks.stop_masks.cases import Case, batch_case
from decoder_lib.batch import generate_batch
from decoder_lib.errors import ContextOverflowError
from decoder_lib.model import CausalLanguageModel

CHALLENGE = "stop_masks"
POINTS = {
    "account_lengths": 1,
    "account_finished": 1,
    "tokens": 2,
    "lengths": 1,
    "finished": 1,
    "only_live_rows": 1,
    "own_generators": 2,
    "edges": 1,
}
OF_ACCOUNT = {"account_lengths", "account_finished"}


def test_points() -> None:
    """For a check that is added, dropped or weighed anew without the challenge's ten points in mind."""
    assert {check.name: check.points for check in checks_of(CHALLENGE)} == POINTS
    assert sum(POINTS.values()) == 10
    assert {check.name for check in checks_of(CHALLENGE) if check.function == "account"} == OF_ACCOUNT


def test_bank_covers_the_catalogue() -> None:
    """For a misconception that no wrong solution stands for."""
    assert_covers_the_catalogue(CHALLENGE, "B", 10)


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
    """For inputs that only some seeds draw, such as rows that all end at once."""
    for seed in range(100, 108):
        assert all(result.status == "passed" for result in grade(CHALLENGE, functions(path), seed))


def test_same_seed_same_result() -> None:
    """For a check whose inputs come from anything but its seed."""
    solution = functions(next(item.path for item in wrong(CHALLENGE) if item.fails_first == "tokens"))
    assert grade(CHALLENGE, solution, 3) == grade(CHALLENGE, solution, 3)
    assert grade(CHALLENGE, solution, 3) != grade(CHALLENGE, solution, 4)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**31), st.lists(st.none() | st.integers(1, 5), max_size=5), st.integers(0, 6))
def test_rows_alone_agree_with_the_library(seed: int, ends: list[int | None], budget: int) -> None:
    """For a reference that is itself wrong, or a batch that does not end in the rounds it was made for."""
    rounds = [None if end is None else min(end, budget + 1) for end in ends]
    case = batch_case(np.random.default_rng(seed), rounds, budget, context_length=7)
    model: Any = ScriptedModel(case.script, case.context_length)
    batch = generate_batch(model, case.prompts, budget, end_id=case.end_id, greedy=True)
    alone = case.alone()
    assert batch.continuations == alone
    assert batch.finished.tolist() == [case.end_id in row for row in alone]
    room = [min(budget, 7 - len(prompt)) for prompt in case.prompts]
    assert [len(row) for row in alone] == [
        n if end is None else min(n, end) for n, end in zip(room, rounds, strict=True)
    ]


def test_drawn_rows_alone_agree_with_the_library() -> None:
    """For a draw that differs from the library's."""
    case = Case(HistoryScript(9, 1), [[1], [2, 3], [4]], 7, 5)
    rngs = [np.random.default_rng(seed) for seed in (1, 2, 3)]
    model: Any = ScriptedModel(case.script, case.context_length)
    batch = generate_batch(model, case.prompts, 7, end_id=5, seeds=(1, 2, 3))
    assert batch.continuations == case.alone([reference.sampler(rng) for rng in rngs])


def test_the_lessons_example() -> None:
    """For an accounting that differs from the one the lesson prints."""
    assert reference.account(np.array([[2, 1], [0, 3], [4, 0]]), 0) == ([2, 3], [True, True])
    assert reference.account(np.zeros((0, 2), dtype=int), 0) == ([0, 0], [False, False])


REFUSED: list[tuple[Any, type[Exception]]] = [
    ([[]], ValueError),
    ([[1], []], ValueError),
    ([[7]], ValueError),
    ([[1.0]], ValueError),
    ([1, 2], ValueError),
    ([[1], [0] * 17], ContextOverflowError),
]


@pytest.mark.parametrize(("prefixes", "error"), REFUSED)
def test_next_logits_refuses_what_a_decoder_refuses(prefixes: Any, error: type[Exception]) -> None:
    """For a scripted model that is more lenient, or stricter, than the real one."""
    for model in (CausalLanguageModel(n_vocab=7), ScriptedModel(HistoryScript(7, 0), 16)):
        with pytest.raises(error) as caught:
            model.next_logits(prefixes)
        assert type(caught.value) is error


@pytest.mark.parametrize(
    "prefixes", [[[1, 2], [3]], ((1, 2), np.array([3])), [np.array([1, 2]), [np.int64(3)]]]
)
def test_next_logits_are_last_rows(prefixes: Any) -> None:
    """For a batched answer that is not the last row of each prefix, or a record that forgets a prefix."""
    model = ScriptedModel(HistoryScript(7, 0), 16)
    logits = model.next_logits(prefixes)
    np.testing.assert_array_equal(logits, [model.logits([1, 2])[-1], model.logits([3])[-1]])
    assert model.batches == [((1, 2), (3,))]


def test_next_logits_of_nothing() -> None:
    """For a batch of no prefixes, which a decoder answers with no rows, and which must be on record."""
    model = ScriptedModel(HistoryScript(7, 0), 16)
    assert model.next_logits([]).shape == CausalLanguageModel(n_vocab=7).next_logits([]).shape == (0, 7)
    assert model.batches == [()]


def test_endless_batch_ends() -> None:
    """For a loop over rounds without a bound."""
    model = ScriptedModel(ScheduleScript({}, np.zeros(2)), 8)
    for _ in range(MOST_CALLS):
        model.next_logits([[0]])
    with pytest.raises(RuntimeError, match="does not end"):
        model.next_logits([[0]])


def test_notebook_cells(capsys: pytest.CaptureFixture[str]) -> None:
    """For a check that calls a function which its cell doesn't hand over."""
    solution = functions(correct(CHALLENGE)[0])
    for name in POINTS:
        function = "account" if name in OF_ACCOUNT else "generate_batch"
        require(CHALLENGE, name, **{function: solution[function]})
    assert capsys.readouterr().out.count("passed: ") == 8


@pytest.mark.parametrize("missing", ["account", "generate_batch"])
def test_missing_function_is_named(missing: str) -> None:
    """For a solution with one of the two functions: the other one's checks are not touched."""
    solution = functions(correct(CHALLENGE)[0])
    del solution[missing]
    lost = [found for found in grade(CHALLENGE, solution, 0) if found.status != "passed"]
    assert {found.name for found in lost} == (
        OF_ACCOUNT if missing == "account" else set(POINTS) - OF_ACCOUNT
    )
    assert all(
        f"calls `{missing}`, which is not defined" in " ".join(str(found.message).split()) for found in lost
    )


class Hostile:
    """An object that misbehaves whenever it is looked at."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError("do not look")

    def __repr__(self) -> str:
        raise RuntimeError("do not look")


class AlwaysEqual(list[int]):
    """A list that claims to be equal to everything."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None


JUNK: dict[str, Any] = {
    "none": None,
    "string": "abc",
    "number": 3,
    "pair of numbers": (1, 2),
    "three numbers": (1, 2, 3),
    "strings": (["a"], ["b"], ["c"]),
    "flat tokens": ([1, 2], [1, 1], [True, False]),
    "NaN": ([[float("nan")]] * 2, [float("nan")] * 2, [float("nan")] * 2),
    "floats for tokens": ([[1.0], [2.0]], [1, 1], [False, False]),
    "hostile": (Hostile(), Hostile(), Hostile()),
    "hostile rows": ([Hostile()] * 2, [Hostile()] * 2, [Hostile()] * 2),
    "equal rows": ([AlwaysEqual([1])] * 2, AlwaysEqual([1, 1]), AlwaysEqual([0, 1])),
    "equal list of rows": (AlwaysEqual(), AlwaysEqual(), AlwaysEqual()),
    "huge": (np.zeros((2, 10**7), dtype=np.int8), [10**7] * 2, [False, False]),
    "huge integers": ([[10**6000]] * 2, [10**6000] * 2, [10**6000] * 2),
}


@pytest.mark.parametrize("result", JUNK.values(), ids=JUNK.keys())
def test_junk_earns_nothing(result: Any) -> None:
    """For a check that passes, or ends the run, when the result is something else altogether."""
    solution = {name: lambda *a, **k: result for name in ("account", "generate_batch")}
    results = grade(CHALLENGE, solution, 0)
    assert not [found.name for found in results if found.status == "passed"]
    assert all(str(found.message) and len(str(found.message)) < 2_500 for found in results)


@pytest.mark.parametrize("tokens", [0, 1, 3])
def test_stubs_earn_nothing(tokens: int) -> None:
    """For a batch that never asks the model, and tells the truth about what it made up."""

    def stub(model: Any, prompts: Any, max_new_tokens: int, end_id: int, rngs: Any = None) -> Any:
        n = min(tokens, max_new_tokens)
        return [[1] * n for _ in prompts], [n] * len(prompts), [False] * len(prompts)

    results = grade(CHALLENGE, {"generate_batch": stub}, 0)
    assert not [found.name for found in results if found.status == "passed"]


class _OnlyPlainData:
    """A candidate that hands over plain data only, as a sandboxed one does."""

    def __init__(self, path: Path) -> None:
        self._inner = DirectCandidate(functions(path))

    def call(self, function: str, /, *arguments: object, **keywords: object) -> Call:
        sent = [_Proxy(item) if isinstance(item, ScriptedModel) else item for item in arguments]
        call = self._inner.call(function, *sent, **keywords)
        parts: Any = call.result
        return Call(json.loads(json.dumps([_plain(part) for part in parts])), call.arguments, call.keywords)


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


class _Proxy:
    """A model seen through the contract's names."""

    def __init__(self, model: ScriptedModel) -> None:
        self.n_vocab, self.context_length = model.n_vocab, model.context_length
        self._model = model

    def next_logits(self, prefixes: Any) -> Any:
        plain = [[int(token) for token in prefix] for prefix in prefixes]
        return np.array(self._model.next_logits(plain).tolist())


@pytest.mark.parametrize("path", correct(CHALLENGE), ids=lambda path: path.stem)
def test_second_door(path: Path) -> None:
    """For a check that relies on the identity of an argument, which a sandbox does not keep."""
    results = [run_check(check, _OnlyPlainData(path), 6) for check in checks_of(CHALLENGE)]
    assert [str(result.message) for result in results if result.status != "passed"] == []
