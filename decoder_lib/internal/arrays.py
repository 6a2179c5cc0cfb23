"""Checks of a decoder's parameters against the shapes that they must have, and a copy of its own."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import DTypeLike, NDArray

Shapes = Mapping[str, tuple[int, ...]]
Arrays = Mapping[str, NDArray[np.floating]]


def check_arrays(arrays: Arrays, shapes: Shapes) -> None:
    """Raise ValueError naming the first parameter that is missing, unknown, misshapen or not finite."""
    for name, shape in shapes.items():
        if name not in arrays:
            raise ValueError(
                f"parameter {name!r} is missing; this shape of decoder needs one of shape {shape}"
            )
        found = arrays[name]
        if found.shape != shape:
            raise ValueError(
                f"parameter {name!r} has shape {found.shape}; this shape of decoder needs {shape}"
            )
        if not np.issubdtype(found.dtype, np.floating):
            raise ValueError(
                f"parameter {name!r} holds {found.dtype} values; it must hold floating-point ones"
            )
        if not np.isfinite(found).all():
            raise ValueError(f"parameter {name!r} holds values that are not finite")
    for name in arrays:
        if name not in shapes:
            raise ValueError(f"parameter {name!r} is not one of this decoder's: {', '.join(shapes)}")


def copied(arrays: Arrays, shapes: Shapes, dtype: DTypeLike) -> dict[str, NDArray[np.floating]]:
    """A copy of the parameters in float32 or float64; ValueError as `check_arrays`, and for another dtype."""
    if np.dtype(dtype) not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise ValueError(f"dtype is {np.dtype(dtype)}; it must be float32 or float64")
    check_arrays(arrays, shapes)
    with np.errstate(over="ignore"):  # what overflows float32 is found not finite below
        own = {name: np.array(value, dtype) for name, value in arrays.items()}
    check_arrays(own, shapes)
    return own
