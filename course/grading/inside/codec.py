"""Plain data to JSON and back: what a call takes and gives. Both sides use it; neither trusts the other.

None, booleans, numbers, strings and lists are JSON's own. Anything else is an object with a key "$":

    tuple, dict                items
    int                        one that JSON readers refuse, in hexadecimal
    array, scalar              NumPy's, as bytes; an array too large to send as its shape alone
    generator                  a np.random.Generator on PCG64, as its state
    served                     a model or a cache, which stays on the trusted side, as a number
    object                     whatever else, as the name of its type
"""

import base64
import binascii
import math
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from types import GeneratorType
from typing import Any

import numpy as np

MOST_ITEMS = 20_000  # of a list; more than any check asks for
MOST_ELEMENTS = 200_000  # of an array that is sent with its values
MOST_CHARACTERS = 100_000
MOST_BITS = 100_000
DEEPEST = 16

_NUMERIC = re.compile(r"[<>|=]?(b1|[iu][1248]|f(2|4|8|16)|c(8|16|32))")


class UndecodableError(Exception):
    """What came is not what `encode` makes."""


def encode(value: object, refer: Callable[[object], dict[str, Any] | None], depth: int = 0) -> Any:
    """A value as JSON can hold it; whatever it is, this gives something.

    refer : gives what to send for an object that stays on the trusted side; None for any other.
    """
    try:
        return _encode(value, refer, depth)
    except Exception:  # an object that misbehaves when it is looked at
        return _foreign(value)


def _encode(value: object, refer: Callable[[object], dict[str, Any] | None], depth: int) -> Any:
    if value is None or value is True or value is False:
        return value
    if isinstance(value, str):
        return str.__str__(value)[:MOST_CHARACTERS]
    if isinstance(value, np.generic):
        return _scalar(value)
    if isinstance(value, int):
        # Of a subclass only the number counts, whatever its methods say.
        return _integer(int.__index__(value))
    if isinstance(value, float):
        return float.__float__(value)
    if isinstance(value, np.ndarray):
        return _array(np.asarray(value), refer, depth)
    if isinstance(value, np.random.Generator) and isinstance(value.bit_generator, np.random.PCG64):
        return {"$": "generator", "state": _encode(value.bit_generator.state, refer, depth)}
    if isinstance(value, list | tuple) and depth < DEEPEST:
        iterator = list.__iter__(value) if isinstance(value, list) else tuple.__iter__(value)
        items = list(_first(iterator))
        if not _all_small_integers(items):
            items = [encode(item, refer, depth + 1) for item in items]
        return items if isinstance(value, list) else {"$": "tuple", "items": items}
    if type(value) is dict and depth < DEEPEST:
        pairs = list(_first(iter(value.items())))
        items = [[encode(key, refer, depth + 1), encode(item, refer, depth + 1)] for key, item in pairs]
        return {"$": "dict", "items": items}
    served = refer(value)  # last: to tell a model or a cache from other objects takes time
    return _foreign(value) if served is None else served


def _first(items: Iterator[Any]) -> Iterator[Any]:
    return (item for item, _ in zip(items, range(MOST_ITEMS), strict=False))


def _all_small_integers(items: list[Any]) -> bool:
    """Whether JSON has them as they are: a long text has thousands, and a solution passes it on often."""
    return set(map(type, items)) == {int} and min(items) > -(2**63) and max(items) < 2**63


def _integer(number: int) -> Any:
    if abs(number) < 2**63:
        return number
    if number.bit_length() > MOST_BITS:
        number = (1 << MOST_BITS) * (1 if number > 0 else -1)
    return {"$": "int", "hex": hex(number)}


def _scalar(value: np.generic) -> Any:
    if not _NUMERIC.fullmatch(value.dtype.str):
        return _foreign(value)
    return {"$": "scalar", "dtype": value.dtype.str, "data": base64.b64encode(value.tobytes()).decode()}


def _array(value: np.ndarray[Any, Any], refer: Callable[[object], dict[str, Any] | None], depth: int) -> Any:
    out: dict[str, Any] = {"$": "array", "shape": list(value.shape), "dtype": value.dtype.str}
    if _NUMERIC.fullmatch(value.dtype.str):
        if value.size <= MOST_ELEMENTS:
            out["data"] = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()
        return out
    out["dtype"] = "|O"
    if value.size <= MOST_ITEMS and depth < DEEPEST:
        out["items"] = [encode(item, refer, depth + 1) for item in value.ravel().tolist()]
    return out


def _foreign(value: object) -> dict[str, Any]:
    kind = "generator" if type(value) is GeneratorType else type(value).__name__
    return {"$": "object", "type": str(kind)[:100]}


def decode(data: object, resolve: Callable[[dict[str, Any]], object], depth: int = 0) -> Any:
    """The value that was encoded.

    resolve : gives the object for a reference to one that stays on the trusted side.

    Raises UndecodableError for what no `encode` makes.
    """
    if data is None or isinstance(data, bool | int | float | str):
        return data
    if depth > DEEPEST + 2:
        raise UndecodableError("too deep")
    if isinstance(data, list):
        if _all_small_integers(data):
            return data
        return [decode(item, resolve, depth + 1) for item in data]
    if not isinstance(data, dict):
        raise UndecodableError("no plain data")
    try:
        return _tagged(data, resolve, depth)
    except (KeyError, TypeError, ValueError, OverflowError, binascii.Error, AttributeError) as error:
        raise UndecodableError(f"a {data.get('$')!r} that is none") from error


def _tagged(data: dict[str, Any], resolve: Callable[[dict[str, Any]], object], depth: int) -> Any:
    kind = data["$"]
    if kind == "served":
        return resolve(data)
    if kind == "tuple":
        return tuple(decode(item, resolve, depth + 1) for item in data["items"])
    if kind == "dict":
        return {
            decode(key, resolve, depth + 1): decode(item, resolve, depth + 1) for key, item in data["items"]
        }
    if kind == "int":
        if len(data["hex"]) > MOST_BITS:
            raise UndecodableError("a long integer")
        return int(data["hex"], 16)
    if kind == "scalar":
        return _numbers(data["dtype"], (), data["data"])[()]
    if kind == "array":
        return _decoded_array(data, resolve, depth)
    if kind == "generator":
        return _generator(decode(data["state"], resolve, depth + 1))
    if kind == "object":
        if data["type"] == "generator":
            return (item for item in [None])
        name = str(data["type"])[:100]
        return _class(name if name.isidentifier() else "object")()
    raise UndecodableError("an unknown kind")


@lru_cache(maxsize=256)
def _class(name: str) -> type:
    """A class that has nothing but a name. Making one takes time and memory: a list may hold very many."""
    return type(name, (), {})


def _decoded_array(data: dict[str, Any], resolve: Callable[[dict[str, Any]], object], depth: int) -> Any:
    shape = tuple(data["shape"])
    if len(shape) > 32 or not all(type(size) is int and 0 <= size < 2**40 for size in shape):
        raise UndecodableError("no shape")
    if "data" in data:
        return _numbers(data["dtype"], shape, data["data"])
    if "items" in data:
        items = [decode(item, resolve, depth + 1) for item in data["items"]]
        out = np.empty(len(items), dtype=object)
        out[:] = items
        return out.reshape(shape)
    kind = np.dtype(data["dtype"] if _NUMERIC.fullmatch(data["dtype"]) else object)
    return np.broadcast_to(np.zeros((), dtype=kind), shape)  # takes no room, whatever its shape


def _numbers(dtype: str, shape: tuple[int, ...], data: str) -> Any:
    if not _NUMERIC.fullmatch(dtype):
        raise UndecodableError("no numbers")
    kind = np.dtype(dtype)
    raw = base64.b64decode(data, validate=True)
    if len(raw) != math.prod(shape) * kind.itemsize:
        raise UndecodableError("a shape that does not fit")
    if kind.kind == "b":  # a byte other than 0 and 1 is a boolean that equals neither
        return np.frombuffer(raw, dtype=np.uint8).reshape(shape) != 0
    return np.frombuffer(raw, dtype=kind).reshape(shape).copy()


def _generator(state: Any) -> np.random.Generator:
    """Only PCG64, whose state is two integers: a false state of another kind could make NumPy read astray."""
    inner = state["state"]
    numbers = [inner["state"], inner["inc"], state["has_uint32"], state["uinteger"]]
    limits = [2**128, 2**128, 2, 2**32]
    if state["bit_generator"] != "PCG64" or not all(
        type(number) is int and 0 <= number < limit for number, limit in zip(numbers, limits, strict=True)
    ):
        raise UndecodableError("no generator")
    bits = np.random.PCG64(0)
    bits.state = {
        "bit_generator": "PCG64",
        "state": {"state": numbers[0], "inc": numbers[1]},
        "has_uint32": numbers[2],
        "uinteger": numbers[3],
    }
    return np.random.Generator(bits)
