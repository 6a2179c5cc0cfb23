"""The checks of challenge 3, proved on the bank of right and wrong solutions."""

from __future__ import annotations

import json
from itertools import cycle
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
from course.checks.cache_reuse.attention_cases import attend, causal, drawn
from course.checks.scripted_cache import CachingModel, ScriptedCache
from decoder_lib import CausalLanguageModel, load
from decoder_lib.transformer import attention

CHALLENGE = "cache_reuse"
POINTS = {
    "attention_values": 1,
    "attention_causal": 1,
    "attention_alignment": 1,
    "attention_stable": 1,
    "tokens": 2,
    "fed_once": 2,
    "stops": 1,
    "common_prefix": 2,
    "returned_cache": 1,
}
LOOP = [name for name in POINTS if not name.startswith("attention")]


def test_points() -> None:
    """For a check that is added, dropped or weighed anew without the challenge's twelve points in mind."""
    assert {check.name: check.points for check in checks_of(CHALLENGE)} == POINTS
    assert sum(POINTS.values()) == 12
    by_function = {check.name: check.function for check in checks_of(CHALLENGE)}
    assert [name for name, function in by_function.items() if function == "generate_with_cache"] == LOOP


def test_bank_covers_the_catalogue() -> None:
    """For a misconception that no wrong solution stands for."""
    assert_covers_the_catalogue(CHALLENGE, "K", 14)


@pytest.mark.parametrize("seed", [0, 1, 2024])
@pytest.mark.parametrize("path", correct(CHALLENGE), ids=lambda path: path.stem)
def test_right_solutions_get_every_point(path: Path, seed: int) -> None:
    """For a check that asks for more than the contract does, and so fails another style."""
    assert_full_marks(CHALLENGE, path, seed)


@pytest.mark.parametrize(
    ("solution", "seed"),
    [pytest.param(*pair, id=pair[0].path.stem) for pair in zip(wrong(CHALLENGE), cycle([0, 1, 2024]))],
)
def test_wrong_solutions_lose_exactly_what_they_break(solution: WrongSolution, seed: int) -> None:
    """For a slip that goes unseen, is blamed on something else, or costs points it did not break."""
    assert_loses_what_it_breaks(CHALLENGE, solution, seed)


@pytest.mark.parametrize("path", correct(CHALLENGE)[:3], ids=lambda path: path.stem)
def test_many_seeds(path: Path) -> None:
    """For inputs that only some seeds draw, such as a token that is selected twice."""
    for seed in range(100, 108):
        assert all(result.status == "passed" for result in grade(CHALLENGE, functions(path), seed))


def test_same_seed_same_result() -> None:
    """For a check whose inputs come from anything but its seed."""
    solution = functions(wrong(CHALLENGE)[0].path)
    assert grade(CHALLENGE, solution, 3) == grade(CHALLENGE, solution, 3)
    assert grade(CHALLENGE, solution, 3) != grade(CHALLENGE, solution, 4)


@pytest.mark.filterwarnings("ignore:still debugging")
@pytest.mark.parametrize("path", correct(CHALLENGE), ids=lambda path: path.stem)
def test_right_solutions_are_right_for_the_decoder(path: Path) -> None:
    """For scripted models that differ from the decoder that students see."""
    found = functions(path)
    for name in ("lesson", "trained"):
        decoder = load(name)
        tokens, cache = found["generate_with_cache"](decoder, [0, 1, 2], 9, end_id=6)
        expected = decoder.generate([0, 1, 2], 9, greedy=True, end_id=6).token_ids
        assert list(tokens) == expected
        tokens, _ = found["generate_with_cache"](decoder, [0, 1, 5, 2], 20, cache=cache)
        assert list(tokens) == decoder.generate([0, 1, 5, 2], 20, greedy=True).token_ids
    queries, keys, values = np.random.default_rng(0).normal(size=(3, 5, 4))
    np.testing.assert_allclose(
        found["cached_attention"](queries[2:], keys, values), attention(queries[2:], keys, values), rtol=1e-9
    )


@pytest.mark.parametrize(("n", "T"), [(1, 1), (1, 4), (3, 5), (6, 6)])
def test_reference_attention(n: int, T: int) -> None:  # noqa: N803
    """For a reference that is itself wrong: the decoder's own attention must give the same."""
    inputs = drawn(np.random.default_rng(n), n, T, 4)
    expected = attention(inputs.queries, inputs.keys, inputs.values)
    np.testing.assert_allclose(attend(inputs), expected, rtol=1e-9)
    assert causal(n, T).sum(axis=1).tolist() == list(range(T - n + 1, T + 1))


def test_lesson_counts() -> None:
    """For a count that differs from the one the lesson prints: 7 positions fed, 25 when all is read again."""
    decoder = CausalLanguageModel(n_vocab=7)
    counts = [decoder.generate([0, 1, 2], 5, seed=0, use_cache=use).positions_read for use in (True, False)]
    assert counts == [7, 25]
    unused = next(solution.path for solution in wrong(CHALLENGE) if solution.path.stem == "K14_no_cache")
    message = {result.name: str(result.message) for result in grade(CHALLENGE, functions(unused), 0)}[
        "fed_once"
    ]
    assert "7 positions fed" in message
    assert "25 positions fed" in message


class _OnlyPlainData:
    """A candidate that hands over plain data only, as a sandboxed one does; models and caches as proxies."""

    def __init__(self, path: Path) -> None:
        self._inner = DirectCandidate(functions(path))
        self._caches: dict[int, ScriptedCache] = {}

    def call(self, function: str, /, *arguments: object, **keywords: object) -> Call:
        sent = [self._send(item) for item in arguments]
        call = self._inner.call(
            function, *sent, **{name: self._send(item) for name, item in keywords.items()}
        )
        if function == "cached_attention":
            return Call(json.loads(json.dumps(np.asarray(call.result).tolist())), call.arguments, {})
        tokens, cache = call.result  # type: ignore[misc]
        sent_back = json.loads(json.dumps([int(token) for token in tokens]))
        return Call([sent_back, self._caches[cache.number]], call.arguments, call.keywords)

    def _send(self, item: object) -> object:
        if isinstance(item, CachingModel):
            return _ModelProxy(item, self)
        if isinstance(item, ScriptedCache):
            return self.proxy(item)
        return item

    def proxy(self, cache: ScriptedCache) -> _CacheProxy:
        """A new proxy each time: not even the student's side can go by identity."""
        number = next((n for n, known in self._caches.items() if known is cache), len(self._caches))
        self._caches[number] = cache
        return _CacheProxy(number, self._caches)


class _CacheProxy:
    """A cache seen through the contract's names."""

    def __init__(self, number: int, caches: dict[int, ScriptedCache]) -> None:
        self.number = number
        self._caches = caches

    @property
    def length(self) -> int:
        return self._caches[self.number].length

    @property
    def token_ids(self) -> list[int]:
        return list(self._caches[self.number].token_ids)

    def crop(self, length: int) -> None:
        self._caches[self.number].crop(int(length))

    def __deepcopy__(self, memo: object) -> _CacheProxy:
        return self


class _ModelProxy:
    """A model seen through the contract's names."""

    def __init__(self, model: CachingModel, door: _OnlyPlainData) -> None:
        self.n_vocab, self.context_length = model.n_vocab, model.context_length
        self._model = model
        self._door = door

    def new_cache(self) -> _CacheProxy:
        return self._door.proxy(self._model.new_cache())

    def logits(self, token_ids: Any, cache: Any = None) -> Any:
        held = None if cache is None else self._door._caches[cache.number]
        return np.array(self._model.logits([int(token) for token in token_ids], cache=held).tolist())

    def __deepcopy__(self, memo: object) -> _ModelProxy:
        return self


@pytest.mark.parametrize("path", correct(CHALLENGE), ids=lambda path: path.stem)
def test_second_door(path: Path) -> None:
    """For a check that relies on the identity of an argument, which a sandbox does not keep."""
    results = [run_check(check, _OnlyPlainData(path), 6) for check in checks_of(CHALLENGE)]
    assert [str(result.message) for result in results if result.status != "passed"] == []


JUNK: dict[str, Any] = {
    "none": None,
    "string": "cache",
    "number": 3,
    "empty tuple": (),
    "three values": ([1], None, 0),
    "NaN array": np.full((2, 4), np.nan),
    "booleans": np.ones((2, 4), dtype=bool),
    "objects": np.full((2, 4), None),
    "strings": [["a"] * 4] * 2,
    "ragged": [[1.0, 2.0], [1.0]],
    "deep list": [[[[1]]]],
    "a set": {1, 2},
    "huge list": list(range(10**6)),
    "tokens, no cache": ([1, 2, 3], None),
    "tokens, a list as cache": ([1, 2, 3, 4, 5, 6], [1, 2]),
    "exchanged": (None, [1, 2]),
    "zeros": np.zeros((2, 4)),
}


@pytest.mark.parametrize("result", JUNK.values(), ids=JUNK.keys())
def test_junk_earns_nothing(result: Any) -> None:
    """For a check that raises, passes or falls silent when the result has another shape."""
    solution = {name: lambda *a, **k: result for name in ("cached_attention", "generate_with_cache")}
    results = grade(CHALLENGE, solution, 0)
    assert {found.status for found in results} == {"failed"}
    assert all(0 < len(str(found.message)) < 2_000 for found in results)


def _zeros(queries: Any, keys: Any, values: Any) -> Any:
    return np.zeros(queries.shape)


def _last_values(queries: Any, keys: Any, values: Any) -> Any:
    return values[-len(queries) :]


def _nan(queries: Any, keys: Any, values: Any) -> Any:
    return np.full(queries.shape, np.nan)


def _mean(queries: Any, keys: Any, values: Any) -> Any:
    return np.repeat(values.mean(axis=0, keepdims=True), len(queries), axis=0)


@pytest.mark.parametrize("stub", [_zeros, _last_values, _nan, _mean])
def test_attention_stubs_earn_nothing(stub: Any) -> None:
    """For a check that holds where nothing is read, or where nothing is a number."""
    results = grade(CHALLENGE, {"cached_attention": stub}, 0)
    assert not [found.name for found in results if found.status == "passed"]


@pytest.mark.parametrize("count", [0, 1, 2, 20])
@pytest.mark.parametrize("reads", [False, True])
def test_loop_stubs_earn_nothing_they_did_not_do(count: int, reads: bool) -> None:
    """For a check that compares nothing where the model is never asked."""

    def stub(
        model: Any, prompt: Any, max_new_tokens: int, end_id: Any = None, cache: Any = None
    ) -> tuple[list[int], Any]:
        cache = cache or model.new_cache()
        if reads:
            model.logits(prompt, cache=cache)
        return [0] * min(count, max_new_tokens, model.context_length - len(prompt)), cache

    passed = {found.name for found in grade(CHALLENGE, {"generate_with_cache": stub}, 0) if found.points}
    assert passed <= ({"returned_cache"} if reads and count else set())


def _raises(*arguments: Any, **keywords: Any) -> None:
    raise LookupError("x" * 10_000)


def _reads_and_raises(model: Any, prompt: Any, *arguments: Any, cache: Any = None, **keywords: Any) -> None:
    model.logits(prompt, cache=model.new_cache())
    raise KeyError("later")


def test_an_error_of_its_own_is_not_explained_away() -> None:
    """For a diagnosis that blames a slip where the function merely stumbled."""
    results = grade(CHALLENGE, {"generate_with_cache": _reads_and_raises}, 0)
    found = [result for result in results if result.name in ("tokens", "fed_once", "stops", "returned_cache")]
    assert {result.misconception for result in found} == {None}
    assert all("Your function raised KeyError" in str(result.message) for result in found)


def _exits(*arguments: Any, **keywords: Any) -> None:
    raise SystemExit(3)


def _recurses(*arguments: Any, **keywords: Any) -> Any:
    return _recurses()


def _loops(model: Any, *arguments: Any, **keywords: Any) -> None:
    cache = model.new_cache()
    while True:
        model.logits([0], cache=cache)
        cache.crop(0)


@pytest.mark.parametrize(
    ("function", "named"),
    [
        (_raises, "LookupError: xxx"),
        (_exits, "SystemExit: 3"),
        (_recurses, "RecursionError"),
        (_loops, "does not end"),
        (None, "not defined"),
        (3, "of type int"),
    ],
)
def test_behaviour_is_named(function: Any, named: str) -> None:
    """For a check that lets an exception of the student's through, or loses its text."""
    solution = {"generate_with_cache": function}
    if function is not _loops:
        solution["cached_attention"] = function
    results = [found for found in grade(CHALLENGE, solution, 0) if found.function in solution]
    assert {found.status for found in results} <= {"failed", "error"}
    assert all(named in str(found.message) for found in results), [str(found.message) for found in results]
    assert all(len(str(found.message)) < 2_000 for found in results)
