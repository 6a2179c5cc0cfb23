"""Tensors in safetensors files, mapped into memory and not copied where they are float32.

Source: the safetensors format (its README, "Format"). The safetensors package is not used, since it copies
each tensor and has no bfloat16 for NumPy.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ITEM_SIZES = {"F32": 4, "F16": 2, "BF16": 2}  # in bytes


@dataclass(frozen=True)
class Tensor:
    """A tensor in a file: `data` are its bytes there, not yet read."""

    label: str
    dtype: str
    shape: tuple[int, ...]
    data: NDArray[np.uint8]

    def values(self) -> NDArray[np.floating]:
        """The values as float32, mapped where the file holds them so."""
        if self.dtype not in ITEM_SIZES:
            raise ValueError(f"{self.label} holds {self.dtype} values; it must hold F32, F16 or BF16")
        if self.dtype == "BF16":  # the upper half of a float32
            wide = self.data.view("<u2").astype(np.uint32)
            wide <<= 16
            return wide.view(np.float32).reshape(self.shape)
        found = self.data.view("<f4" if self.dtype == "F32" else "<f2").reshape(self.shape)
        # Aligned, since BLAS would copy others at each use; few writers leave them so.
        return np.require(found, np.float32, "A")


def read_tensors(folder: Path) -> dict[str, Tensor]:
    """Every tensor of a checkpoint that is one file, or several with an index of what is where."""
    whole, index = folder / "model.safetensors", folder / "model.safetensors.index.json"
    if whole.is_file():
        return _tensors_of(whole)
    if not index.is_file():
        raise FileNotFoundError(
            f"{whole} is missing, and so is {index.name}; "
            "other formats, such as pytorch_model.bin, are not read"
        )
    places = json_object(index.read_bytes(), index).get("weight_map")
    if not isinstance(places, dict):
        raise ValueError(f"weight_map of {index} is {places!r}; it must say which file holds which tensor")
    files: dict[str, dict[str, Tensor]] = {}
    for name, file in places.items():
        if not isinstance(file, str) or Path(file).name != file:
            raise ValueError(
                f"weight_map of {index} puts {name!r} into {file!r}; it must be a file beside it"
            )
        if file not in files:
            if not (folder / file).is_file():
                raise FileNotFoundError(f"{folder / file} is missing, which holds tensor {name!r}")
            files[file] = _tensors_of(folder / file)
        if name not in files[file]:
            raise ValueError(f"tensor {name!r} is missing in {folder / file}, where {index.name} puts it")
    for file, held in files.items():
        for name in held:
            if places.get(name) != file:
                raise ValueError(f"tensor {name!r} of {folder / file} is not there according to {index.name}")
    return {name: files[file][name] for name, file in places.items()}


def _tensors_of(path: Path) -> dict[str, Tensor]:
    """One file: the header's length in eight bytes, the header in JSON, the tensors' bytes."""
    size = path.stat().st_size
    raw = np.asarray(np.memmap(path, np.uint8, "r")) if size else np.empty(0, np.uint8)
    start = 8 + int.from_bytes(raw[:8].tobytes(), "little")
    if size < start:
        raise ValueError(
            f"{path} ends in its header, after {size} bytes; it is no safetensors file, or a part of one"
        )
    header = json_object(raw[8:start].tobytes(), f"the header of {path}")
    header.pop("__metadata__", None)
    return {name: _tensor(entry, raw[start:], f"tensor {name!r} of {path}") for name, entry in header.items()}


def _tensor(entry: object, data: NDArray[np.uint8], label: str) -> Tensor:
    """A tensor by its entry in the header, or ValueError where that is none or the file is too short."""
    match entry:
        case {"dtype": str(dtype), "shape": [*shape], "data_offsets": [int(begin), int(end)]} if all(
            type(number) is int and number >= 0 for number in [*shape, begin, end - begin]
        ):
            pass
        case _:
            raise ValueError(f"{label} is entered as {entry!r}; it must have dtype, shape and data_offsets")
    if end > data.size:
        raise ValueError(
            f"{label} should end at byte {end} of {data.size}; the file is cut short, fetch it again"
        )
    needed = ITEM_SIZES.get(dtype, 0)
    for length in shape:
        needed *= length
    if dtype in ITEM_SIZES and end - begin != needed:
        raise ValueError(f"{label} has {end - begin} bytes; {dtype} values of shape {shape} need {needed}")
    return Tensor(label, dtype, tuple(shape), data[begin:end])


def json_object(text: bytes, place: object) -> dict[str, Any]:
    """The JSON object of a text; ValueError names the `place` that it is from, where it is anything else."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{place} is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise ValueError(f"{place} holds {type(found).__name__}; it must hold a JSON object")
    return found
