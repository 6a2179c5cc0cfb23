"""Reading what a student's function returned: plain values out, or a sentence that says what came instead."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from types import GeneratorType

import numpy as np
from numpy.typing import NDArray

MOST_TOKENS = 10_000  # far above any budget in a check
MOST_SHOWN = 12


class UnreadableError(Exception):
    """A returned value is not of the agreed shape. Its text completes "`generate` returned ..."."""


def describe(value: object) -> str:
    """A value in a few words, whatever it is: a long one is cut short, a foreign object is not asked."""
    if value is None or isinstance(value, bool | int | float | np.bool_ | np.integer | np.floating):
        return _clipped(repr(value.item() if isinstance(value, np.generic) else value))
    if isinstance(value, str):
        return f"the string {_clipped(repr(str.__str__(value)))}"
    if isinstance(value, np.ndarray):
        return f"a {value.dtype} array of shape {value.shape}"
    if isinstance(value, GeneratorType):
        return "a Python generator (the function has a `yield` in it)"
    if isinstance(value, list | tuple):
        kinds = sorted({type(item).__name__ for item in value[:MOST_TOKENS]})
        of = f" ({', '.join(kinds[:3])})" if kinds else ""
        return f"a {'list' if isinstance(value, list) else 'tuple'} of {_items(len(value))}{of}"
    return f"an object of type {type(value).__name__}"


def as_pair(value: object, names: str = "the pair (new_token_ids, finish_reason)") -> tuple[object, object]:
    """The two parts of a fixed-size result, given as a tuple or a list."""
    first, second = _parts(value, 2, names)
    return first, second


def as_triple(value: object, names: str) -> tuple[object, object, object]:
    """The three parts of a fixed-size result, given as a tuple or a list."""
    first, second, third = _parts(value, 3, names)
    return first, second, third


def _parts(value: object, count: int, names: str) -> list[object]:
    if value is None:
        raise UnreadableError("None; is there a `return` on every way out of the function?")
    if not isinstance(value, tuple | list) or len(value) != count:
        raise UnreadableError(f"{describe(value)}; it must be {names}")
    return [value[i] for i in range(count)]


def as_numbers(value: object) -> NDArray[np.float64]:
    """Real numbers given as a list, a tuple or a 1-D array, as float64 (n,)."""
    asked = "it must be a one-dimensional array of numbers, one a token"
    if isinstance(value, np.ndarray):
        if value.ndim != 1 or (value.size and value.dtype.kind not in "fiu"):
            raise UnreadableError(f"{describe(value)}; {asked}")
    elif not isinstance(value, list | tuple):
        raise UnreadableError(f"{describe(value)}; {asked}")
    if len(value) > MOST_TOKENS:
        raise UnreadableError(f"{len(value)} numbers, far more than were asked for")
    return np.array([_as_float(item, f" as entry {i}") for i, item in enumerate(value)], dtype=np.float64)


def as_matrix(value: object, shape: tuple[int, int]) -> NDArray[np.float64]:
    """Real numbers given as a 2-D array, or as a list or a tuple of rows, as float64 of exactly `shape`."""
    asked = f"it must be an array of shape {shape}"
    if isinstance(value, np.ndarray):
        if value.shape != shape or value.dtype.kind not in "fiu":
            raise UnreadableError(f"{describe(value)}; {asked}")
        return np.array(value, dtype=np.float64)
    if not isinstance(value, list | tuple) or len(value) != shape[0]:
        raise UnreadableError(f"{describe(value)}; {asked}")
    rows = []
    for i, row in enumerate(value):
        try:
            rows.append(as_numbers(row))
        except UnreadableError:
            raise UnreadableError(f"{describe(row)} as row {i}; {asked}") from None
        if rows[-1].size != shape[1]:
            raise UnreadableError(f"{describe(row)} as row {i}; {asked}")
    return np.array(rows)


def as_number(value: object) -> float:
    """One real number: a Python or a NumPy one, or an array without dimensions."""
    return _as_float(value, "; it must be one number")


def _as_float(value: object, where: str) -> float:
    """A plain float, whatever a subclass makes of comparisons; `where` ends the sentence about others."""
    if isinstance(value, np.ndarray) and not value.ndim and value.dtype.kind in "fiu":
        value = value.item()
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.integer | np.floating):
        raise UnreadableError(f"{describe(value)}{where}")
    if isinstance(value, float):
        return float.__float__(value)
    try:
        return float(value) if isinstance(value, np.floating) else float(int.__int__(operator.index(value)))
    except OverflowError:
        raise UnreadableError(f"an integer that no float can hold{where}") from None


def as_tokens(value: object) -> list[int]:
    """Token ids given as a list, a tuple or a 1-D integer array, as plain ints."""
    asked = "new_token_ids must be a list, a tuple or a one-dimensional array of integers"
    if isinstance(value, np.ndarray):
        # An empty array is float64 unless told otherwise; it holds no token of a wrong type.
        if value.ndim != 1 or (value.size and not np.issubdtype(value.dtype, np.integer)):
            raise UnreadableError(f"{describe(value)} for the tokens; {asked}")
    elif not isinstance(value, list | tuple):
        raise UnreadableError(f"{describe(value)} for the tokens; {asked}")
    if len(value) > MOST_TOKENS:
        raise UnreadableError(f"{len(value)} tokens, far more than were asked for")
    return [_as_token(item, position) for position, item in enumerate(value)]


def _as_token(item: object, position: int) -> int:
    if isinstance(item, bool | np.bool_) or not isinstance(item, int | np.integer):
        raise UnreadableError(
            f"{describe(item)} as token {position + 1}; a token id is an integer, a Python or a NumPy one"
        )
    token = int.__int__(operator.index(item))  # a plain int, whatever a subclass makes of comparisons
    if abs(token) >= 2**63:
        raise UnreadableError(f"an integer of {token.bit_length()} bits as token {position + 1}")
    return token


def as_token_rows(value: object, rows: int) -> list[list[int]]:
    """`rows` token lists of any lengths, given in a list, a tuple or an array."""
    if not isinstance(value, list | tuple | np.ndarray) or (isinstance(value, np.ndarray) and not value.ndim):
        raise UnreadableError(f"{describe(value)} for the continuations; they are a list of token lists")
    if len(value) != rows:
        raise UnreadableError(f"{_items(len(value))} for the continuations of {rows} rows")
    tokens = []
    for b, row in enumerate(value):
        try:
            tokens.append(as_tokens(row))
        except UnreadableError as error:
            raise UnreadableError(f"{error} (row {b} of the continuations)") from None
    return tokens


def as_counts(value: object, name: str, rows: int) -> list[int]:
    """`rows` whole numbers given as a list, a tuple or a 1-D array."""
    try:
        numbers = as_numbers(value)
    except UnreadableError as error:
        raise UnreadableError(f"{error} ({name})") from None
    if numbers.size != rows or not all(number.is_integer() for number in numbers.tolist()):
        shown = f"[{', '.join(_clipped(f'{number:g}') for number in numbers[:MOST_SHOWN].tolist())}]"
        raise UnreadableError(f"{shown} for `{name}`; it must be {rows} whole numbers")
    return [int(number) for number in numbers.tolist()]


def as_flags(value: object, name: str, rows: int) -> list[bool]:
    """`rows` truth values given as a list, a tuple or a 1-D array: booleans, or the numbers 0 and 1."""
    if not isinstance(value, list | tuple | np.ndarray) or (
        isinstance(value, np.ndarray) and value.ndim != 1
    ):
        raise UnreadableError(f"{describe(value)} for `{name}`; it must be {rows} truth values")
    if len(value) != rows:
        raise UnreadableError(f"{_items(len(value))} for `{name}` of {rows} rows")
    flags = []
    for b, item in enumerate(value):
        known = item if isinstance(item, bool | np.bool_) else _as_float(item, f" as entry {b} of `{name}`")
        if not isinstance(known, bool | np.bool_) and known not in (0.0, 1.0):
            raise UnreadableError(f"{describe(item)} as entry {b} of `{name}`; it must be True or False")
        flags.append(bool(known))
    return flags


def as_reason(value: object) -> str:
    """A finish reason as a plain string."""
    if not isinstance(value, str):
        raise UnreadableError(f"{describe(value)} for the finish reason; it must be a string")
    return str.__str__(value)


def show_tokens(tokens: Sequence[int]) -> str:
    """Token ids as a student would write them, with a long run cut short."""
    shown = ", ".join(_clipped(str(token)) for token in tokens[:MOST_SHOWN])
    return f"[{shown}]" if len(tokens) <= MOST_SHOWN else f"[{shown}, ...] ({len(tokens)} tokens)"


def _items(count: int) -> str:
    return f"{count} item" if count == 1 else f"{count} items"


def _clipped(text: str, most: int = 60) -> str:
    return text if len(text) <= most else text[:most] + "..."
