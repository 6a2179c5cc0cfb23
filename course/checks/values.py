"""Reading what a student's function returned: plain values out, or a sentence that says what came instead."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from types import GeneratorType

import numpy as np

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


def as_pair(value: object) -> tuple[object, object]:
    """The two parts of a fixed-size result, given as a tuple or a list."""
    if value is None:
        raise UnreadableError("None; is there a `return` on every way out of the function?")
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise UnreadableError(f"{describe(value)}; it must be the pair (new_token_ids, finish_reason)")
    return value[0], value[1]


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
