"""The GPT-2 in a folder, as Hugging Face stores it: `config.json` and `model.safetensors`.

Nothing here downloads anything. Source: the names and layouts of transformers' `GPT2LMHeadModel`, which are
those of `decoder_lib.parameters` but for a prefix.
"""

from __future__ import annotations

import re
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decoder_lib.internal.arguments import check_integer
from decoder_lib.internal.tensor_files import Tensor, json_object, read_tensors
from decoder_lib.parameters import Config, check_parameters, parameter_shapes

# What `decoder_lib.transformer` computes, and what a config.json means that leaves the key out.
_COMPUTED = {
    "activation_function": "gelu_new",
    "layer_norm_epsilon": 1e-5,
    "scale_attn_weights": True,
    "scale_attn_by_inverse_layer_idx": False,
    "add_cross_attention": False,
}
# The causal mask, which older versions of transformers stored with the parameters.
_BUFFER = re.compile(r"h\.\d+\.attn\.(bias|masked_bias)")
_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(/[\w.-]+)?")


def read_checkpoint(directory: str | PathLike[str]) -> tuple[dict[str, NDArray[np.floating]], Config]:
    """The parameters and the shape of the GPT-2 in a folder, all float32.

    Values that the file holds as float32 are views of the file itself, mapped into memory and not copied, so
    it must stay as it is while they are in use. float16 and bfloat16 are widened, which makes a copy.

    Raises FileNotFoundError where the folder or a file of it is missing, ValueError for all else that is
    not such a checkpoint, naming the tensor or the key.
    """
    folder = _folder(directory)
    settings = json_object((folder / "config.json").read_bytes(), folder / "config.json")
    config = _config(settings, folder / "config.json")
    held: dict[str, Tensor] = {}
    for stored, tensor in read_tensors(folder).items():
        name = stored.removeprefix("transformer.")
        if name in held:
            raise ValueError(
                f"{folder} holds {name!r} with 'transformer.' and without; it must be there once"
            )
        if not _BUFFER.fullmatch(name):
            held[name] = tensor
    head = held.pop("lm_head.weight", None)
    _check_names_and_shapes(held, config, folder)
    parameters = {name: held[_stored_name(name)].values() for name in parameter_shapes(config)}
    try:
        check_parameters(parameters, config)
    except ValueError as error:
        raise ValueError(f"{folder}: {error}; the file is damaged or its training failed") from error
    if head is None and settings.get("tie_word_embeddings", True) is not True:
        raise ValueError(
            f"tensor 'lm_head.weight' is missing in {folder}, whose config.json says with "
            "tie_word_embeddings that it differs from wte; it must be true"
        )
    if head is not None and not np.array_equal(head.values(), parameters["wte"]):
        raise ValueError(
            f"tensor 'lm_head.weight' of {folder} differs from 'wte.weight'; in GPT-2 they are the same"
        )
    return parameters, config


def _folder(directory: str | PathLike[str]) -> Path:
    """The checkpoint's folder, which holds a config.json."""
    folder = Path(directory)
    if not folder.is_dir():
        if not folder.exists() and _HUB_NAME.fullmatch(str(directory)):
            raise FileNotFoundError(
                f"there is no folder {str(directory)!r}. If that is a name on the Hugging Face Hub: nothing "
                "is downloaded here. Fetch config.json, model.safetensors and tokenizer.json into a folder "
                "yourself and give that folder"
            )
        raise FileNotFoundError(
            f"{directory} is no folder; give the one that holds config.json and model.safetensors"
        )
    if not (folder / "config.json").is_file():
        raise FileNotFoundError(
            f"{folder / 'config.json'} is missing; "
            "a checkpoint is a folder with config.json and model.safetensors"
        )
    return folder


def _config(settings: dict[str, Any], path: Path) -> Config:
    """The decoder's shape, or ValueError where `settings` ask for another computation than ours."""
    if settings.get("model_type") != "gpt2":
        raise ValueError(f"model_type of {path} is {settings.get('model_type')!r}; it must be 'gpt2'")
    for key, value in _COMPUTED.items():
        if settings.get(key, value) != value:
            raise ValueError(
                f"{key} of {path} is {settings[key]!r}; this decoder computes with {value!r} only"
            )
    keys = ("vocab_size", "n_positions", "n_layer", "n_head", "n_embd")
    for key in keys:
        if key not in settings:
            raise ValueError(f"{key} is missing in {path}; it must be a positive integer")
    sizes = [check_integer(f"{key} of {path}", settings[key], 1) for key in keys]
    n_heads, width = sizes[3:]
    if width % n_heads:
        raise ValueError(f"n_embd of {path} is {width}; it must be a multiple of n_head, {n_heads}")
    if settings.get("n_inner") not in (None, 4 * width):
        raise ValueError(
            f"n_inner of {path} is {settings['n_inner']!r}; it must be null or {4 * width}, 4 times n_embd"
        )
    return Config(*sizes)


def _stored_name(parameter: str) -> str:
    """What a checkpoint calls one of our parameters."""
    return f"{parameter}.weight" if parameter in ("wte", "wpe") else parameter


def _check_names_and_shapes(held: dict[str, Tensor], config: Config, folder: Path) -> None:
    """Raise ValueError naming the first tensor that is missing, misshapen or unknown."""
    shapes = {_stored_name(name): shape for name, shape in parameter_shapes(config).items()}
    for name, shape in shapes.items():
        if name not in held:
            raise ValueError(
                f"tensor {name!r} is missing in {folder}; its config.json asks for one of shape {shape}"
            )
        if held[name].shape != shape:
            turned = (
                "; it seems transposed, GPT-2 stores [in, out]" if held[name].shape == shape[::-1] else ""
            )
            raise ValueError(
                f"tensor {name!r} of {folder} has shape {held[name].shape}; "
                f"its config.json asks for {shape}{turned}"
            )
    for name in held:
        if name not in shapes:
            raise ValueError(
                f"tensor {name!r} of {folder} has no place in a GPT-2 language model with n_layer "
                f"{config.n_layers}; either it must go or config.json is another checkpoint's"
            )
