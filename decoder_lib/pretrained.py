"""GPT-2 checkpoints as Hugging Face stores them: a folder with `config.json` and `model.safetensors`.

Nothing here downloads anything. Sources: the safetensors format (its README, "Format"), and the names and
layouts of transformers' `GPT2LMHeadModel`, which are those of `decoder_lib.parameters` but for a prefix.
The safetensors package is not used, since it copies each tensor and has no bfloat16 for NumPy.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from decoder_lib.arguments import check_integer
from decoder_lib.parameters import Config, check_parameters, parameter_shapes
from decoder_lib.vocabulary import Vocabulary

if TYPE_CHECKING:
    from tokenizers import Tokenizer

# What `decoder_lib.transformer` computes, and what a config.json means that leaves the key out.
_COMPUTED = {
    "activation_function": "gelu_new",
    "layer_norm_epsilon": 1e-5,
    "scale_attn_weights": True,
    "scale_attn_by_inverse_layer_idx": False,
    "add_cross_attention": False,
}
_ITEM_SIZES = {"F32": 4, "F16": 2, "BF16": 2}
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
    settings = _json_object((folder / "config.json").read_bytes(), folder / "config.json")
    config = _config(settings, folder / "config.json")
    held: dict[str, _Tensor] = {}
    for stored, tensor in _tensors(folder).items():
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


def _json_object(text: bytes, place: object) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{place} is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise ValueError(f"{place} holds {type(found).__name__}; it must hold a JSON object")
    return found


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
    return f"{parameter}.weight" if parameter in ("wte", "wpe") else parameter


def _check_names_and_shapes(held: dict[str, _Tensor], config: Config, folder: Path) -> None:
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


@dataclass(frozen=True)
class _Tensor:
    """A tensor in a file: `data` are its bytes there, which nobody has read yet."""

    label: str
    dtype: str
    shape: tuple[int, ...]
    data: NDArray[np.uint8]

    def values(self) -> NDArray[np.floating]:
        """The values as float32, mapped where the file holds them so."""
        if self.dtype not in _ITEM_SIZES:
            raise ValueError(f"{self.label} holds {self.dtype} values; it must hold F32, F16 or BF16")
        if self.dtype == "BF16":  # the upper half of a float32
            wide = self.data.view("<u2").astype(np.uint32)
            wide <<= 16
            return wide.view(np.float32).reshape(self.shape)
        found = self.data.view("<f4" if self.dtype == "F32" else "<f2").reshape(self.shape)
        # Aligned, since BLAS would copy others at each use; few writers leave them so.
        return np.require(found, np.float32, "A")


def _tensors(folder: Path) -> dict[str, _Tensor]:
    """Every tensor of a checkpoint that is one file, or several with an index of what is where."""
    whole, index = folder / "model.safetensors", folder / "model.safetensors.index.json"
    if whole.is_file():
        return _tensors_of(whole)
    if not index.is_file():
        raise FileNotFoundError(
            f"{whole} is missing, and so is {index.name}; "
            "other formats, such as pytorch_model.bin, are not read"
        )
    places = _json_object(index.read_bytes(), index).get("weight_map")
    if not isinstance(places, dict):
        raise ValueError(f"weight_map of {index} is {places!r}; it must say which file holds which tensor")
    files: dict[str, dict[str, _Tensor]] = {}
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


def _tensors_of(path: Path) -> dict[str, _Tensor]:
    """One file: the header's length in eight bytes, the header in JSON, the tensors' bytes."""
    size = path.stat().st_size
    raw = np.asarray(np.memmap(path, np.uint8, "r")) if size else np.empty(0, np.uint8)
    start = 8 + int.from_bytes(raw[:8].tobytes(), "little")
    if size < start:
        raise ValueError(
            f"{path} ends in its header, after {size} bytes; it is no safetensors file, or a part of one"
        )
    header = _json_object(raw[8:start].tobytes(), f"the header of {path}")
    header.pop("__metadata__", None)
    return {name: _tensor(entry, raw[start:], f"tensor {name!r} of {path}") for name, entry in header.items()}


def _tensor(entry: object, data: NDArray[np.uint8], label: str) -> _Tensor:
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
    needed = _ITEM_SIZES.get(dtype, 0)
    for length in shape:
        needed *= length
    if dtype in _ITEM_SIZES and end - begin != needed:
        raise ValueError(f"{label} has {end - begin} bytes; {dtype} values of shape {shape} need {needed}")
    return _Tensor(label, dtype, tuple(shape), data[begin:end])


@dataclass(frozen=True)
class TokenizerVocabulary(Vocabulary):
    """The parts of words that a checkpoint's tokenizer knows.

    `tokens` spells them as the tokenizer does: in GPT-2's, `Ġ` stands for a space before the word. `encode`
    splits text and `decode` gives it back, spaces included.
    """

    tokenizer: Tokenizer = field(repr=False, compare=False)

    def id(self, token: str) -> int:
        """The id of one token, in the tokenizer's spelling; ValueError where it has no such token."""
        found: int | None = self.tokenizer.token_to_id(token)
        if found is None:
            raise ValueError(f"{token!r} is none of the tokenizer's {len(self)} tokens")
        return found

    def encode(self, text: str) -> list[int]:
        """The ids of the parts of `text`; ValueError where the tokenizer has no tokens for some of it."""
        ids: list[int] = self.tokenizer.encode(text, add_special_tokens=False).ids
        if self.decode(ids) != text:
            raise ValueError(
                f"the tokenizer has no tokens for a part of {text!r}: {self.decode(ids)!r} is left"
            )
        return ids

    def decode(self, token_ids: Iterable[int | np.integer]) -> str:
        """The text that `token_ids` stand for; ValueError names an id outside the vocabulary."""
        ids = [check_integer("a token id", token_id, 0, len(self) - 1) for token_id in token_ids]
        text: str = self.tokenizer.decode(ids, skip_special_tokens=False)
        return text


def read_vocabulary(directory: str | PathLike[str]) -> TokenizerVocabulary:
    """The vocabulary of a checkpoint's `tokenizer.json`.

    Raises ImportError where the tokenizers package is missing, FileNotFoundError where the file is,
    ValueError where it is no tokenizer.
    """
    path = Path(directory) / "tokenizer.json"
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise ImportError(
            "reading a tokenizer needs the extra gpt2: pip install 'autoregressive-generation[gpt2]'"
        ) from error
    if not path.is_file():
        raise FileNotFoundError(
            f"{path} is missing; the vocabulary is read from it alone, not from vocab.json"
        )
    try:
        tokenizer = Tokenizer.from_str(path.read_text(encoding="utf-8"))
    except Exception as error:  # the package raises bare Exceptions
        raise ValueError(f"{path} is no tokenizer: {error}") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    ids = tokenizer.get_vocab(with_added_tokens=True)
    tokens = sorted(ids, key=ids.__getitem__)
    if [ids[token] for token in tokens] != list(range(len(tokens))):
        raise ValueError(
            f"{path} leaves ids out; its {len(tokens)} tokens must have those from 0 on, each once"
        )
    return TokenizerVocabulary(tuple(tokens), tokenizer)
