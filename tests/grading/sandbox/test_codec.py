"""Plain data on its way to a student's function and back."""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from course.checks.values import describe
from course.grading.inside.codec import MOST_ITEMS, UndecodableError, decode, encode

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text() | st.integers(), inner, max_size=3)
    ),
    max_leaves=12,
)
ARRAYS = arrays.arrays(
    st.sampled_from(["f8", "f4", "i8", "i4", "u1", "?", "c16"]), arrays.array_shapes(min_dims=0, min_side=0)
)


def refer(value: object) -> None:
    """Nothing stays on the trusted side here."""


def resolve(data: dict[str, Any]) -> object:
    raise UndecodableError("nothing was sent")


def there_and_back(value: object) -> Any:
    return decode(json.loads(json.dumps(encode(value, refer))), resolve)


def same(a: object, b: object) -> bool:
    """Equal, and of the same types all the way down."""
    if type(a) is not type(b):
        return False
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))  # type: ignore[arg-type]
    if isinstance(a, dict):
        return same(list(a), list(b)) and same(list(a.values()), list(b.values()))  # type: ignore[call-overload, attr-defined]
    return a == b


@given(PLAIN)
def test_plain_data_comes_back_as_it_went(value: object) -> None:
    """Bug: a tuple becomes a list, 1 becomes True or 1.0, a key that is a number becomes text."""
    assert same(there_and_back(value), value)


@given(ARRAYS)
def test_arrays_come_back_as_they_went(array: np.ndarray[Any, Any]) -> None:
    """Bug: an array of another type, shape or value reaches a check than the student returned."""
    back = there_and_back(array)
    assert (back.dtype, back.shape) == (array.dtype, array.shape)
    assert back.tobytes() == array.tobytes()


@pytest.mark.parametrize("value", [np.float32(1.5), np.int64(3), np.bool_(True), np.float64("nan")])
def test_numpy_scalars_keep_their_type(value: np.generic) -> None:
    """Bug: `np.int64(3)` counts as an int in one door and not in the other."""
    back = there_and_back(value)
    assert type(back) is type(value)
    assert back.tobytes() == value.tobytes()


def test_a_generator_goes_on_where_it_stood() -> None:
    """Bug: a generator that was drawn from comes back fresh, so that a shared one repeats its draws."""
    generator = np.random.default_rng(3)
    generator.random(5)
    generator.integers(10, dtype=np.int32)  # leaves half a draw behind
    back = there_and_back(generator)
    assert (
        back.integers(1000, size=4, dtype=np.int32).tolist()
        == generator.integers(1000, size=4, dtype=np.int32).tolist()
    )


class Hostile(list[int]):
    """A list that misbehaves wherever a method is called."""

    def __iter__(self) -> Any:
        raise RuntimeError

    def __len__(self) -> int:
        raise RuntimeError

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


class Unlookable:
    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError


DEEP: list[Any] = []
for _ in range(200):
    DEEP = [DEEP]
ROUND: list[Any] = []
ROUND.append(ROUND)


def test_whatever_it_is_it_is_sent() -> None:
    """Bug: an object that misbehaves when it is looked at ends the worker, and with it other checks."""
    odd = [
        Hostile([1, 2]),
        Unlookable(),
        DEEP,
        ROUND,
        {1, 2},
        b"x",
        1j,
        object,
        print,
        np.ma.masked_array([1]),
    ]
    for value in odd:
        there_and_back(value)


def test_a_subclass_counts_as_what_it_holds() -> None:
    """Bug: a list or an integer that calls itself equal to everything reaches a comparison."""
    back = there_and_back(Hostile([1, 2]))
    assert type(back) is list
    assert back == [1, 2]
    assert back != [1]


def test_foreign_objects_are_described_as_what_they_are() -> None:
    """Bug: a message says "an object of type dict" in one door and something else in the other."""
    for value in ({1, 2}, range(3), (i for i in range(2)), np.zeros(10**8, dtype=np.int8), "text", None):
        assert describe(there_and_back(value)) == describe(value)


def test_the_largest_values_are_sent_as_less() -> None:
    """Bug: a result of gigabytes is copied into messages, or an endless integer stops JSON."""
    assert len(there_and_back(list(range(10**6)))) == MOST_ITEMS
    huge = there_and_back(np.zeros((10**5, 10**3), dtype=np.int8))
    assert (huge.shape, huge.strides) == ((10**5, 10**3), (0, 0))
    assert there_and_back(10**6000) == 10**6000
    assert there_and_back(-(1 << 200_000)).bit_length() > 100_000
    assert sys.getsizeof(json.dumps(encode("x" * 10**7, refer))) < 10**6


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"$": "nothing"},
        {"$": []},
        {"$": "tuple"},
        {"$": "tuple", "items": 3},
        {"$": "dict", "items": [[[], 1]]},
        {"$": "int", "hex": "zz"},
        {"$": "int", "hex": "f" * 10**6},
        {"$": "int", "hex": 3},
        {"$": "scalar", "dtype": "|O", "data": ""},
        {"$": "scalar", "dtype": "<f8", "data": "!!"},
        {"$": "array", "shape": [2], "dtype": "<f8", "data": "AAAA"},
        {"$": "array", "shape": [-1], "dtype": "<f8", "data": ""},
        {"$": "array", "shape": [2**70], "dtype": "<f8"},
        {"$": "array", "shape": [1] * 70, "dtype": "<f8"},
        {"$": "array", "shape": [True], "dtype": "<f8", "data": "AAAAAAAAAAA="},
        {"$": "array", "shape": [2], "dtype": "|O", "items": [1]},
        {"$": "array", "shape": "ab", "dtype": "<f8"},
        {"$": "served", "number": 0},
        {"$": "generator", "state": 3},
        {"$": "generator", "state": {"$": "dict", "items": [["bit_generator", "MT19937"]]}},
        {"$": "object"},
    ],
)
def test_what_nobody_encoded_is_refused(data: object) -> None:
    """Bug: a false message raises anything else, and ends grading instead of its check."""
    with pytest.raises(UndecodableError):
        decode(data, resolve)


def test_deep_messages_are_refused() -> None:
    """Bug: nesting that exhausts the trusted side's stack."""
    data: Any = 1
    for _ in range(500):
        data = [data]
    with pytest.raises(UndecodableError):
        decode(data, resolve)


def test_a_boolean_is_true_or_false() -> None:
    """Bug: a boolean whose byte is 2 is neither, and compares as it likes."""
    back = decode({"$": "array", "shape": [3], "dtype": "|b1", "data": "AAEC"}, resolve)
    assert back.tobytes() == b"\0\1\1"


def test_a_generators_state_is_checked() -> None:
    """Bug: a false state makes NumPy read outside its memory."""
    state = encode(np.random.default_rng(0), refer)
    items = state["state"]["items"]
    for name, value in (("has_uint32", 7), ("uinteger", -1), ("bit_generator", "MT19937")):
        false = [[key, value if key == name else item] for key, item in items]
        with pytest.raises(UndecodableError):
            decode({"$": "generator", "state": {"$": "dict", "items": false}}, resolve)
