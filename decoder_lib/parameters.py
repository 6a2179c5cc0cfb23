"""The decoder's parameters: their names, shapes, first draw, and the files that hold them.

Names and layouts are those of GPT-2's published checkpoints (Radford et al. 2019): a projection's
weight is stored `[in, out]`, so that `x @ weight + bias` needs no transpose, and the unembedding is
the token embedding `wte` itself.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import DTypeLike, NDArray

from decoder_lib.internal.arrays import check_arrays

Parameters = Mapping[str, NDArray[np.floating]]

DATA = Path(__file__).parent / "data"


@dataclass(frozen=True)
class Config:
    """The shape of a decoder.

    n_vocab : number of vocabulary entries, V.
    context_length : longest prefix the decoder can read, in positions.
    n_layers, n_heads, d_model : blocks, attention heads per block, width of the residual stream.

    Raises ValueError where a size is not a positive integer or `d_model` is not a multiple of `n_heads`.
    """

    n_vocab: int
    context_length: int = 16
    n_layers: int = 2
    n_heads: int = 2
    d_model: int = 16

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
                raise ValueError(f"{name} is {value!r}; it must be a positive integer")
        if self.d_model % self.n_heads:
            raise ValueError(
                f"d_model is {self.d_model}, which {self.n_heads} heads cannot share equally; "
                "it must be a multiple of n_heads"
            )


def _as_json(config: Config) -> str:
    return json.dumps({name: int(value) for name, value in asdict(config).items()})


def parameter_shapes(config: Config) -> dict[str, tuple[int, ...]]:
    """Every parameter's name and shape, in the order in which `draw_parameters` draws them."""
    d = config.d_model
    shapes: dict[str, tuple[int, ...]] = {"wte": (config.n_vocab, d), "wpe": (config.context_length, d)}
    for layer in range(config.n_layers):
        block: dict[str, tuple[int, ...]] = {
            "ln_1.weight": (d,),
            "ln_1.bias": (d,),
            "attn.c_attn.weight": (d, 3 * d),
            "attn.c_attn.bias": (3 * d,),
            "attn.c_proj.weight": (d, d),
            "attn.c_proj.bias": (d,),
            "ln_2.weight": (d,),
            "ln_2.bias": (d,),
            "mlp.c_fc.weight": (d, 4 * d),
            "mlp.c_fc.bias": (4 * d,),
            "mlp.c_proj.weight": (4 * d, d),
            "mlp.c_proj.bias": (d,),
        }
        shapes |= {f"h.{layer}.{name}": shape for name, shape in block.items()}
    return shapes | {"ln_f.weight": (d,), "ln_f.bias": (d,)}


def draw_parameters(
    config: Config, seed: int, scale: float = 0.3, dtype: DTypeLike = np.float64
) -> dict[str, NDArray[np.floating]]:
    """An untrained decoder's parameters: normal matrices, gains of one, biases of zero.

    scale : standard deviation of the matrices.

    The same `seed` gives the same draw. GPT-2 itself starts from a scale of 0.02; at a width of 16 that
    would leave every distribution almost uniform, with nothing to look at.
    """
    rng = np.random.default_rng(seed)
    parameters: dict[str, NDArray[np.floating]] = {}
    for name, shape in parameter_shapes(config).items():
        if len(shape) == 2:
            parameters[name] = rng.normal(0.0, scale, shape).astype(dtype)
        else:
            parameters[name] = np.full(shape, 1.0 if name.endswith("weight") else 0.0, dtype)
    return parameters


def check_parameters(parameters: Parameters, config: Config) -> None:
    """Raise ValueError naming the first parameter that is missing, unknown, misshapen or not finite."""
    check_arrays(parameters, parameter_shapes(config))


def fingerprint(parameters: Parameters, config: Config | None = None) -> str:
    """A short digest of every parameter's bytes; with a `config`, of the decoder's shape as well.

    Only the latter tells two decoders apart that divide the same parameters among different numbers of heads.
    """
    digest = hashlib.sha256(_as_json(config).encode() if config else b"")
    for name in sorted(parameters):
        value = np.ascontiguousarray(parameters[name])
        digest.update(f"{name} {value.dtype} {value.shape}".encode())
        digest.update(value.tobytes())
    return digest.hexdigest()[:16]


def save_parameters(path: str | PathLike[str], parameters: Parameters, config: Config) -> None:
    """Write a parameter file (`.npz`, no pickle); the same parameters give the same bytes."""
    check_parameters(parameters, config)
    ordered = {name: parameters[name] for name in parameter_shapes(config)}
    with Path(path).open("wb") as file:
        np.savez(file, allow_pickle=False, config=np.array(_as_json(config)), **ordered)


def load_parameters(path: str | PathLike[str]) -> tuple[dict[str, NDArray[np.floating]], Config]:
    """Read a parameter file written by `save_parameters`.

    Raises FileNotFoundError where there is none, ValueError where it is not such a file.
    """
    try:
        with Path(path).open("rb") as handle, np.load(handle, allow_pickle=False) as file:
            parameters = {name: file[name] for name in file.files}
        config = Config(**json.loads(str(parameters.pop("config"))))
        check_parameters(parameters, config)
    except (EOFError, KeyError, TypeError, ValueError, BadZipFile) as error:
        raise ValueError(f"{path} is not a decoder's parameter file: {error}") from error
    return parameters, config
