"""What a check says to a function that returns, or does, something else altogether."""

from __future__ import annotations

import time
from collections import namedtuple
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from submission_bank import grade

CHALLENGE = "generation_loop"
Named = namedtuple("Named", "tokens reason extra")


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


class EqualInt(int):
    """An integer that claims to be equal to everything."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = int.__hash__


JUNK: dict[str, tuple[Any, str]] = {
    "none": (None, "None"),
    "string": ("length", "the string 'length'"),
    "number": (3, "got:           3"),
    "three values": (([1], "length", 0), "a tuple of 3 items"),
    "named tuple of three": (Named([1], "length", 0), "a tuple of 3 items"),
    "empty tuple": ((), "a tuple of 0 items"),
    "dictionary": ({"tokens": [1]}, "an object of type dict"),
    "NaN array": (np.full(4, np.nan), "a float64 array of shape (4,)"),
    "NaN tokens": ((np.full(4, np.nan), "length"), "a float64 array of shape (4,)"),
    "NaN in a list": (([float("nan")] * 4, "length"), "nan as token 1"),
    "floats": (([1.0, 2.0, 3.0], "length"), "1.0 as token 1"),
    "nested": (([[1, 2]], "length"), "a list of 2 items (int) as token 1"),
    "two dimensions": ((np.zeros((2, 3), dtype=int), "length"), "a int64 array of shape (2, 3)"),
    "strings": ((["a", "b"], "length"), "the string 'a' as token 1"),
    "booleans": (([True, False], "length"), "True as token 1"),
    "tokens as text": (("abc", "length"), "the string 'abc' for the tokens"),
    "a set": (({1, 2}, "length"), "an object of type set for the tokens"),
    "huge array": ((np.zeros(10**8, dtype=np.int8), "length"), "100000000 tokens"),
    "huge integer": (([10**6000], "length"), "an integer of"),
    "deep list": (([[[[[[1]]]]]], "length"), "a list of 1 item (list) as token 1"),
    "reason missing": (([1, 2, 3, 4, 5, 6], None), "None for the finish reason"),
    "reason as number": (([1, 2, 3, 4, 5, 6], 2), "2 for the finish reason"),
    "exchanged": (("length", [1, 2]), "the string 'length' for the tokens"),
}


@pytest.mark.parametrize(("result", "named"), JUNK.values(), ids=JUNK.keys())
def test_junk_is_named(result: Any, named: str) -> None:
    """For a check that raises, passes or falls silent when the result has another shape."""
    results = grade(CHALLENGE, {"generate": lambda *arguments, **keywords: result}, 0)
    assert {found.status for found in results} <= {"failed", "error"}
    assert all(named in str(found.message) for found in results if found.name != "temperature"), results[
        0
    ].message
    assert all(found.points == 0 and len(str(found.message)) < 2_000 for found in results)


def _generator(*arguments: Any, **keywords: Any) -> Iterator[int]:
    yield 1


def _raises(*arguments: Any, **keywords: Any) -> None:
    raise LookupError("x" * 10_000)


def _raises_nameless(*arguments: Any, **keywords: Any) -> None:
    class SilentError(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    raise SilentError


def _exits(*arguments: Any, **keywords: Any) -> None:
    raise SystemExit(3)


def _recurses(*arguments: Any, **keywords: Any) -> Any:
    return _recurses()


def _takes_nothing() -> tuple[list[int], str]:
    return [], "length"


def _loops_over_the_model(model: Any, *arguments: Any, **keywords: Any) -> None:
    while True:
        model.logits([0])


def _deletes(model: Any, prompt: Any, *arguments: Any, **keywords: Any) -> tuple[list[int], str]:
    del keywords
    if isinstance(prompt, list):
        prompt.clear()
    return [0, 1], "length"


BEHAVIOUR: dict[str, tuple[Any, str]] = {
    "yields": (_generator, "`yield`"),
    "raises": (_raises, "LookupError: xxx"),
    "raises without a text": (_raises_nameless, "SilentError"),
    "exits": (_exits, "SystemExit: 3"),
    "recurses for ever": (_recurses, "RecursionError"),
    "takes no arguments": (_takes_nothing, "TypeError"),
    "loops for ever": (_loops_over_the_model, "does not end"),
    "is no function": (None, "not defined"),
    "is a number": (3, "of type int"),
}


@pytest.mark.parametrize(("function", "named"), BEHAVIOUR.values(), ids=BEHAVIOUR.keys())
def test_behaviour_is_named(function: Any, named: str) -> None:
    """For a check that lets an exception of the student's through, or loses its text."""
    results = grade(CHALLENGE, {"generate": function}, 0)
    assert {found.status for found in results} <= {"failed", "error"}
    assert all(named in str(found.message) for found in results), results[0].message
    assert all(len(str(found.message)) < 2_000 for found in results)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Hostile(),
        lambda: (Hostile(), "length"),
        lambda: ([Hostile()], "length"),
        lambda: ([1, 2], Hostile()),
        lambda: (AlwaysEqual([1, 2, 3, 4, 5, 6]), "length"),
        lambda: ([EqualInt(1)] * 6, "length"),
    ],
    ids=["result", "tokens", "token", "reason", "equal list", "equal integers"],
)
def test_hostile_objects_earn_nothing(make: Any) -> None:
    """For an object whose methods raise or lie: it must neither pass a check nor end the run."""
    results = {found.name: found for found in grade(CHALLENGE, {"generate": lambda *a, **k: make()}, 0)}
    assert all(str(found.message) for found in results.values() if found.status != "passed")
    assert not any(found.status == "passed" for found in results.values())


@pytest.mark.parametrize("count", [0, 1, 2, 6])
def test_stubs_earn_nothing_they_did_not_do(count: int) -> None:
    """For a check that compares nothing where the model is never asked."""

    def stub(model: Any, prompt: Any, max_new_tokens: int, **keywords: Any) -> tuple[list[int], str]:
        full = len(prompt) >= model.context_length
        return [0] * min(count, max_new_tokens), "context" if full and max_new_tokens else "length"

    assert not [found.name for found in grade(CHALLENGE, {"generate": stub}, 0) if found.status == "passed"]


def test_changed_prompt_of_a_stub() -> None:
    """For a function that empties the caller's list: the check of it must not stumble."""
    results = {found.name: found for found in grade(CHALLENGE, {"generate": _deletes}, 0)}
    assert results["passes"].misconception == "G5"


def test_interrupt_goes_through() -> None:
    """For a catch-all that keeps a student from stopping an endless loop."""

    def interrupted(*arguments: Any, **keywords: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        grade(CHALLENGE, {"generate": interrupted}, 0)


def test_junk_is_quick() -> None:
    """For a message that is made out of the whole of a huge result."""
    start = time.perf_counter()
    grade(CHALLENGE, {"generate": lambda *a, **k: (list(range(10**6)), "length")}, 0)
    assert time.perf_counter() - start < 20
