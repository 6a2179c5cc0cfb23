"""GPT-2 checkpoints: agreement with transformers, and what is said about a wrong one.

`data/gpt2` holds a small random checkpoint, and what transformers computed with it; both are written by
`data/make_gpt2_fixture.py`.
"""

from __future__ import annotations

import json
import pickle
import re
import shutil
import socket
import sys
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from views import text

import decoder_lib.model
from decoder_lib import CausalLanguageModel, Config, token_log_probabilities
from decoder_lib import widgets as views
from decoder_lib.pretrained import TokenizerVocabulary, read_vocabulary
from decoder_lib.views.situation import Decoder

DATA = Path(__file__).parent / "data"
GPT2 = DATA / "gpt2"
TENSORS = load_file(GPT2 / "model.safetensors")
SETTINGS = json.loads((GPT2 / "config.json").read_text())
EXPECTED = np.load(GPT2 / "expected.npz")
FILE = (GPT2 / "model.safetensors").read_bytes()
HEADER_END = 8 + int.from_bytes(FILE[:8], "little")
few = settings(deadline=None, derandomize=True, max_examples=100)

Tensors = dict[str, np.ndarray]


def loaded(folder: Path) -> CausalLanguageModel:
    return CausalLanguageModel.from_pretrained(folder)


def write(folder: Path, tensors: Tensors, **changed: Any) -> Path:
    """A checkpoint with these tensors and the fixture's config.json but for what is `changed`."""
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(SETTINGS | changed))
    save_file(tensors, folder / "model.safetensors")
    return folder


def write_raw(folder: Path, tensors: Tensors, dtypes: dict[np.dtype, str], pad: int = 0) -> Path:
    """The same with a file put together by hand, its header `pad` bytes longer than need be."""
    write(folder, {})
    header, data = {}, b""
    for name, value in tensors.items():
        begin, data = len(data), data + value.tobytes()
        header[name] = {
            "dtype": dtypes[value.dtype],
            "shape": value.shape,
            "data_offsets": (begin, len(data)),
        }
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8 + pad)
    (folder / "model.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + data)
    return folder


def write_shards(folder: Path, n: int = 3) -> dict[str, str]:
    """The fixture cut into files with an index, whose map is returned."""
    write(folder, {})
    (folder / "model.safetensors").unlink()
    names = list(TENSORS)
    places = {name: f"model-{i % n + 1:05}-of-{n:05}.safetensors" for i, name in enumerate(names)}
    for file in set(places.values()):
        save_file({name: TENSORS[name] for name in names if places[name] == file}, folder / file)
    index(folder, places)
    return places


def index(folder: Path, places: object) -> None:
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": places}))


def assert_same(folder: Path) -> None:
    """That the folder holds the fixture's decoder, to the bit."""
    found, expected = loaded(folder), loaded(GPT2)
    assert found.config == expected.config
    assert found.fingerprint == expected.fingerprint


# Agreement with transformers


@pytest.mark.parametrize("name", ["one", "some", "full"])
def test_logits_are_those_of_transformers(name: str) -> None:
    """Bug: a tensor is read into another's place, or the heads, the norm or the activation differ."""
    model = loaded(GPT2)
    assert model.config == Config(n_vocab=64, context_length=32, n_layers=2, n_heads=4, d_model=16)
    logits = model.logits(EXPECTED[f"prompt_{name}"])
    np.testing.assert_allclose(logits, EXPECTED[f"logits_{name}"], rtol=0, atol=1e-5)


@pytest.mark.parametrize("use_cache", [False, True])
def test_the_loop_writes_what_transformers_writes(use_cache: bool) -> None:
    """Bug: the loop or the cache cannot run on a checkpoint, or float32 parameters meet a float64 cache."""
    run = loaded(GPT2).generate(EXPECTED["prompt_some"], 20, greedy=True, use_cache=use_cache)
    assert list(run.token_ids) == EXPECTED["greedy"].tolist()


def test_scoring_agrees_with_transformers() -> None:
    """Bug: scoring cannot run on a checkpoint."""
    ids, logits = EXPECTED["prompt_full"], EXPECTED["logits_full"].astype(np.float64)
    expected = (logits - np.log(np.exp(logits).sum(axis=1, keepdims=True)))[np.arange(31), ids[1:]]
    found = token_log_probabilities(loaded(GPT2), ids[:1], ids[1:])
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)


def fixture_script() -> ModuleType:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    spec = spec_from_file_location("make_gpt2_fixture", DATA / "make_gpt2_fixture.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("options", [{}, {"max_shard_size": "10KB"}], ids=["one-file", "shards"])
def test_agrees_with_the_transformers_installed(tmp_path: Path, dtype: str, options: dict[str, str]) -> None:
    """Bug: this version of transformers stores a checkpoint in another way than the fixture's did."""
    script = fixture_script()
    theirs = script.random_gpt2(seed=1).to(getattr(script.torch, dtype))
    theirs.save_pretrained(tmp_path, **options)
    assert (tmp_path / "model.safetensors.index.json").exists() == bool(options)
    ours, theirs = loaded(tmp_path), theirs.float()
    for ids in script.PROMPTS.values():
        np.testing.assert_allclose(ours.logits(ids), script.logits(theirs, ids), rtol=0, atol=1e-5)
    run = ours.generate([9, 8], 25, greedy=True, use_cache=True)
    assert list(run.token_ids) == script.greedy(theirs, [9, 8], 25)


# What is read, and how


def test_the_file_is_mapped_and_not_copied() -> None:
    """Bug: loading needs the checkpoint's size in memory once more, or a parameter can be written."""
    for value in loaded(GPT2).parameters.values():
        assert value.dtype == np.float32
        assert not value.flags.writeable
        base: Any = value
        while isinstance(base, np.ndarray) and not isinstance(base, np.memmap):
            base = base.base
        assert isinstance(base, np.memmap)
        assert base.filename == GPT2 / "model.safetensors"


def test_loading_hashes_nothing_and_caches_hash_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bug: half a gigabyte is hashed when a decoder is loaded, or again for each new cache and each pass."""
    hashed = []
    real = decoder_lib.model.fingerprint
    monkeypatch.setattr(
        decoder_lib.model, "fingerprint", lambda *given: hashed.append(len(given)) or real(*given)
    )
    model = loaded(GPT2)
    model.logits([1, 2])
    assert not hashed
    for _ in range(3):
        model.logits([1, 2], cache=model.new_cache())
    assert len(hashed) == 1


def test_a_copy_is_the_same_decoder() -> None:
    """Bug: a decoder whose parameters are in a file cannot be pickled, or comes back as another."""
    model = loaded(GPT2)
    twin = pickle.loads(pickle.dumps(model))
    assert twin.fingerprint == model.fingerprint
    np.testing.assert_array_equal(twin.logits([1, 2, 3]), model.logits([1, 2, 3]))


def test_older_ways_to_store_the_same(tmp_path: Path) -> None:
    """Bug: a checkpoint without the prefix, with mask buffers or with the tied head is refused."""
    bare = {name.removeprefix("transformer."): value for name, value in TENSORS.items()}
    assert_same(write(tmp_path / "bare", bare))
    buffers = {f"transformer.h.{i}.attn.bias": np.ones((1, 1, 32, 32), np.uint8) for i in range(2)}
    buffers |= {f"transformer.h.{i}.attn.masked_bias": np.array(-1e4, np.float32) for i in range(2)}
    assert_same(write(tmp_path / "buffers", TENSORS | buffers))
    head = {"lm_head.weight": TENSORS["transformer.wte.weight"]}
    assert_same(write(tmp_path / "head", TENSORS | head, n_inner=64, tie_word_embeddings=False))


def test_shards_are_put_together(tmp_path: Path) -> None:
    """Bug: of a checkpoint in several files only one is read."""
    write_shards(tmp_path)
    assert_same(tmp_path)


@pytest.mark.parametrize("dtype", ["F16", "BF16"])
def test_narrow_floats_are_widened_exactly(tmp_path: Path, dtype: str) -> None:
    """Bug: bfloat16 is read as float16 or with its halves swapped, or a value is rounded."""
    if dtype == "F16":
        stored = {name: value.astype(np.float16) for name, value in TENSORS.items()}
        wide = {name: value.astype(np.float32) for name, value in stored.items()}
    else:
        stored = {name: (value.view(np.uint32) >> 16).astype(np.uint16) for name, value in TENSORS.items()}
        wide = {n: (v.view(np.uint32) & 0xFFFF0000).view(np.float32) for n, v in TENSORS.items()}
    found = loaded(write_raw(tmp_path, stored, {np.dtype(np.float16): "F16", np.dtype(np.uint16): "BF16"}))
    for name, value in found.parameters.items():
        assert value.dtype == np.float32
        assert not value.flags.writeable
        key = f"transformer.{name}" + (".weight" if name in ("wte", "wpe") else "")
        np.testing.assert_array_equal(value, wide[key])


@pytest.mark.parametrize("pad", [1, 2, 4])
def test_values_are_aligned(tmp_path: Path, pad: int) -> None:
    """Bug: a header of odd length leaves unaligned parameters, which BLAS copies at each use."""
    write_raw(tmp_path, TENSORS, {np.dtype(np.float32): "F32"}, pad)
    assert_same(tmp_path)
    assert all(value.flags.aligned for value in loaded(tmp_path).parameters.values())


# What is said about a wrong one

FIRST = "transformer.h.0.attn.c_attn.weight"


def without(*names: str) -> Tensors:
    return {name: value for name, value in TENSORS.items() if name not in names}


def not_finite(value: float) -> Tensors:
    damaged = TENSORS["transformer.h.1.mlp.c_fc.bias"].copy()
    damaged[-1] = value
    return TENSORS | {"transformer.h.1.mlp.c_fc.bias": damaged}


@pytest.mark.parametrize(
    ("tensors", "words"),
    [
        (without(FIRST), r"tensor 'h\.0\.attn\.c_attn\.weight' is missing .* \(16, 48\)"),
        (without("transformer.wte.weight"), r"tensor 'wte\.weight' is missing .* \(64, 16\)"),
        (
            TENSORS | {FIRST: np.ascontiguousarray(TENSORS[FIRST].T)},
            r"'h\.0\.attn\.c_attn\.weight' .* \(48, 16\); .* \(16, 48\); it seems transposed",
        ),
        (
            TENSORS | {"transformer.wpe.weight": TENSORS["transformer.wpe.weight"][:9].copy()},
            r"'wpe\.weight' .* \(9, 16\); .* \(32, 16\)$",
        ),
        (TENSORS | {"score.weight": np.ones(3, np.float32)}, r"'score\.weight' .* has no place .* n_layer 2"),
        (
            TENSORS | {"h.2.ln_1.bias": np.ones(16, np.float32)},
            r"'h\.2\.ln_1\.bias' .* has no place .* n_layer 2",
        ),
        (
            TENSORS | {"wte.weight": TENSORS["transformer.wte.weight"]},
            r"'wte\.weight' with 'transformer\.' and without; it must be there once",
        ),
        (
            TENSORS | {"lm_head.weight": TENSORS["transformer.wte.weight"] + 1},
            r"'lm_head\.weight' .* differs from 'wte\.weight'",
        ),
        (
            TENSORS | {"lm_head.weight": TENSORS["transformer.wte.weight"][:5].copy()},
            r"'lm_head\.weight' .* differs from 'wte\.weight'",
        ),
        (
            TENSORS | {FIRST: TENSORS[FIRST].astype(np.float64)},
            r"c_attn\.weight' .* holds F64 values; it must hold F32, F16 or BF16",
        ),
        (not_finite(np.nan), r"'h\.1\.mlp\.c_fc\.bias' holds values that are not finite"),
        (not_finite(np.inf), r"'h\.1\.mlp\.c_fc\.bias' holds values that are not finite"),
        ({}, r"tensor 'wte\.weight' is missing"),
    ],
)
def test_a_wrong_tensor_is_named(tmp_path: Path, tensors: Tensors, words: str) -> None:
    """Bug: a partial or foreign checkpoint is read as far as it goes, or the error names no tensor."""
    with pytest.raises(ValueError, match=words):
        loaded(write(tmp_path, tensors))


@pytest.mark.parametrize(
    ("key", "value", "right"),
    [
        ("model_type", "llama", "'gpt2'"),
        ("model_type", None, "'gpt2'"),
        ("activation_function", "relu", "'gelu_new'"),
        ("activation_function", "gelu", "'gelu_new'"),
        ("layer_norm_epsilon", 1e-6, "1e-05"),
        ("scale_attn_weights", False, "True"),
        ("scale_attn_by_inverse_layer_idx", True, "False"),
        ("add_cross_attention", True, "False"),
        ("n_inner", 32, "null or 64"),
        ("n_head", 3, "n_embd .* multiple of n_head, 3"),
        ("n_layer", 0, "at least 1"),
        ("n_positions", "32", "at least 1"),
        ("vocab_size", None, "at least 1"),
        ("n_embd", True, "at least 1"),
        ("tie_word_embeddings", False, "'lm_head.weight' is missing .* must be true"),
    ],
)
def test_a_wrong_key_is_named(tmp_path: Path, key: str, value: object, right: str) -> None:
    """Bug: a model that computes otherwise is read as a GPT-2, or the error does not say what is right."""
    write(tmp_path, TENSORS, **{key: value})
    with pytest.raises(ValueError, match=right) as caught:
        loaded(tmp_path)
    assert key in str(caught.value)
    assert "config.json" in str(caught.value)


@pytest.mark.parametrize("key", ["model_type", "vocab_size", "n_positions", "n_layer", "n_head", "n_embd"])
def test_a_missing_key_is_named(tmp_path: Path, key: str) -> None:
    """Bug: a config.json that leaves a size out gives a KeyError, or that of the smallest GPT-2."""
    write(tmp_path, TENSORS)
    (tmp_path / "config.json").write_text(json.dumps({k: v for k, v in SETTINGS.items() if k != key}))
    with pytest.raises(ValueError, match=f"{key} .*it must be"):
        loaded(tmp_path)


@pytest.mark.parametrize(
    "key", ["activation_function", "layer_norm_epsilon", "n_inner", "tie_word_embeddings"]
)
def test_a_key_left_out_means_what_gpt2_means(tmp_path: Path, key: str) -> None:
    """Bug: an old and short config.json is refused."""
    write(tmp_path, TENSORS)
    (tmp_path / "config.json").write_text(json.dumps({k: v for k, v in SETTINGS.items() if k != key}))
    assert_same(tmp_path)


@pytest.mark.parametrize("text", ["", "{", "[1]", "\xff", "[" * 100_000])
def test_a_config_that_is_no_object(tmp_path: Path, text: str) -> None:
    """Bug: a broken config.json ends in an error of the JSON reader that names no file."""
    write(tmp_path, TENSORS)
    (tmp_path / "config.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(ValueError, match=r"config\.json"):
        loaded(tmp_path)


@pytest.mark.parametrize("name", ["gpt2", "openai-community/gpt2"])
def test_nothing_is_downloaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Bug: a name on the Hub is fetched, or refused with no word on why."""

    def refuse(*args: object, **keywords: object) -> None:
        raise AssertionError("a connection was tried")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    with pytest.raises(FileNotFoundError, match="Hugging Face Hub: nothing is downloaded"):
        CausalLanguageModel.from_pretrained(name)


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    """Bug: a folder without one of the files ends in a bare error of the operating system."""
    with pytest.raises(FileNotFoundError, match=r"/no/such/gpt2 is no folder; give the one"):
        CausalLanguageModel.from_pretrained("/no/such/gpt2")
    with pytest.raises(FileNotFoundError, match=r"config\.json is no folder; give the one"):
        loaded(GPT2 / "config.json")
    with pytest.raises(FileNotFoundError, match=r"config\.json is missing"):
        loaded(tmp_path)
    write(tmp_path, TENSORS)
    (tmp_path / "model.safetensors").rename(tmp_path / "pytorch_model.bin")
    with pytest.raises(FileNotFoundError, match=r"model\.safetensors is missing.*pytorch_model\.bin"):
        loaded(tmp_path)


def shard_missing(folder: Path, places: dict[str, str]) -> None:
    (folder / places[FIRST]).unlink()


def tensor_elsewhere(folder: Path, places: dict[str, str]) -> None:
    index(folder, places | {FIRST: places["transformer.wte.weight"]})


def tensor_not_in_the_index(folder: Path, places: dict[str, str]) -> None:
    index(folder, {name: file for name, file in places.items() if name != FIRST})


def file_outside(folder: Path, places: dict[str, str]) -> None:
    shutil.copy(folder / places[FIRST], folder.parent / "outside.safetensors")
    index(folder, places | {FIRST: "../outside.safetensors"})


def no_map(folder: Path, places: dict[str, str]) -> None:
    index(folder, [*places])


@pytest.mark.parametrize(
    ("harm", "error", "words"),
    [
        (
            shard_missing,
            FileNotFoundError,
            r"model-0000\d-of-00003\.safetensors is missing, which holds tensor",
        ),
        (tensor_elsewhere, ValueError, "c_attn.weight' is missing in"),
        (tensor_not_in_the_index, ValueError, "c_attn.weight' of .* is not there according to"),
        (file_outside, ValueError, "c_attn.weight' into '../outside.safetensors'"),
        (no_map, ValueError, "weight_map of .* must say which file"),
    ],
)
def test_a_wrong_index_is_named(
    tmp_path: Path, harm: Callable[[Path, dict[str, str]], None], error: type[Exception], words: str
) -> None:
    """Bug: an index and its files disagree, or it leads out of the folder, and nobody says so."""
    folder = tmp_path / "shards"
    places = write_shards(folder)
    assert places[FIRST] != places["transformer.wte.weight"]
    harm(folder, places)
    with pytest.raises(error, match=words):
        loaded(folder)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("scratch") / "gpt2", TENSORS)


@few
@given(size=st.integers(0, len(FILE) - 1) | st.integers(0, HEADER_END))
def test_a_file_cut_short_is_refused(scratch: Path, size: int) -> None:
    """Bug: a download that stopped is read as far as it goes, or ends in an error about shapes."""
    (scratch / "model.safetensors").write_bytes(FILE[:size])
    with pytest.raises(ValueError, match=r"model\.safetensors") as caught:
        loaded(scratch)
    if size >= HEADER_END:
        assert "the file is cut short" in str(caught.value)
        assert "tensor 'transformer." in str(caught.value)
    else:
        assert "ends in its header" in str(caught.value)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"shape": [16, 47]}, r"has 3072 bytes; F32 values of shape \[16, 47\] need 3008"),
        ({"dtype": "F16"}, r"has 3072 bytes; F16 values of shape \[16, 48\] need 1536"),
        ({"shape": [16, -48]}, "is entered as"),
        ({"shape": [16, 48.0]}, "is entered as"),
        ({"shape": None}, "is entered as"),
        ({"data_offsets": [3072, 0]}, "is entered as"),
        ({"data_offsets": [-3072, 0]}, "is entered as"),
        ({"data_offsets": [10**9, 10**9 + 3072]}, "the file is cut short"),
    ],
)
def test_a_wrong_entry_of_the_header_is_named(tmp_path: Path, changed: dict[str, Any], words: str) -> None:
    """Bug: what a file says of a tensor is believed, and its neighbours' bytes or none are read."""
    write(tmp_path, {})
    header = json.loads(FILE[8:HEADER_END])
    header[FIRST] |= changed
    text = json.dumps(header).encode()
    whole = len(text).to_bytes(8, "little") + text + FILE[HEADER_END:]
    (tmp_path / "model.safetensors").write_bytes(whole)
    with pytest.raises(ValueError, match=rf"tensor '{FIRST}' of .*{words}"):
        loaded(tmp_path)


@few
@given(
    place=st.integers(0, HEADER_END - 1),
    put=st.binary(min_size=1, max_size=4) | st.sampled_from([b"-1", b"1.5", b"null", b"9" * 30, b'"', b"["]),
)
def test_a_damaged_header_gives_a_value_error(scratch: Path, place: int, put: bytes) -> None:
    """Bug: a header with other numbers, types or names ends in a crash or a huge allocation."""
    damaged = FILE[:place] + put + FILE[place + len(put) :]
    (scratch / "model.safetensors").write_bytes(damaged)
    refusal = ""
    try:
        loaded(scratch)
    except ValueError as error:
        refusal = str(error)
    # A byte that says nothing, such as one of `__metadata__`, may be another.
    assert not refusal or re.search(r"model\.safetensors|tensor '|parameter '", refusal)


# Its vocabulary

LINES = ["the cat sat on the mat.", "The dog slept — déjà vu, 12 times!", "the cats and the dogs"]


def make_tokenizer(folder: Path, alphabet: list[str] | None = None, size: int = 289) -> None:
    """A byte-level tokenizer such as GPT-2's, trained on three lines; it would cut, fill and add if let."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    if alphabet is None:
        alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=size, special_tokens=["<|endoftext|>"], initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(LINES, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A <|endoftext|>", special_tokens=[("<|endoftext|>", 0)]
    )
    tokenizer.add_tokens(["<new>"])
    tokenizer.enable_truncation(3)
    tokenizer.enable_padding(length=20, pad_id=0, pad_token="<|endoftext|>")
    tokenizer.save(str(folder / "tokenizer.json"))


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> TokenizerVocabulary:
    folder = tmp_path_factory.mktemp("tokenizer")
    make_tokenizer(folder)
    return read_vocabulary(folder)


@few
@given(text=st.text() | st.sampled_from([*LINES, "<|endoftext|>the  cat\n"]))
def test_text_comes_back_as_it_was(words: TokenizerVocabulary, text: str) -> None:
    """Bug: spaces, letters of other scripts or a special token are lost, or text is cut or filled."""
    ids = words.encode(text)
    assert words.decode(ids) == text
    assert [words.id(words.tokens[token_id]) for token_id in ids] == ids


def test_a_token_is_part_of_a_word(words: TokenizerVocabulary) -> None:
    """Bug: `tokens` is in another order than the ids, or special tokens are missing from it."""
    assert len(words) == len(words.tokens) == 290
    assert words.tokens[0] == "<|endoftext|>"
    assert words.tokens[-1] == "<new>"
    (the,) = words.encode(" the")
    assert words.tokens[the] == "Ġthe"
    assert words.decode([np.int64(the), 0]) == " the<|endoftext|>"
    assert words.encode("") == []


def test_what_the_vocabulary_cannot_say(words: TokenizerVocabulary, tmp_path: Path) -> None:
    """Bug: an unknown token or id is left out in silence."""
    with pytest.raises(ValueError, match="'zebra' is none of the tokenizer's 290 tokens"):
        words.id("zebra")
    for wrong in (290, -1, 1.5, True):
        with pytest.raises(ValueError, match=r"an integer from 0 to 289"):
            words.decode([0, wrong])  # type: ignore[list-item]
    make_tokenizer(tmp_path, alphabet=[], size=40)
    with pytest.raises(ValueError, match="no tokens for a part of 'the cat yawns'"):
        read_vocabulary(tmp_path).encode("the cat yawns")


def test_a_wrong_tokenizer_is_named(tmp_path: Path) -> None:
    """Bug: a missing or foreign tokenizer.json ends in an error that names no file."""
    with pytest.raises(FileNotFoundError, match=r"tokenizer\.json is missing"):
        read_vocabulary(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(ValueError, match=r"tokenizer\.json is no tokenizer"):
        read_vocabulary(tmp_path)
    make_tokenizer(tmp_path)
    content = json.loads((tmp_path / "tokenizer.json").read_text())
    content["model"]["vocab"]["zebra"] = 999
    (tmp_path / "tokenizer.json").write_text(json.dumps(content))
    with pytest.raises(ValueError, match=r"tokenizer\.json leaves ids out"):
        read_vocabulary(tmp_path)


def test_the_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bug: without the extra, a reader sees the name of a package and not what to install."""
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(ImportError, match=r"autoregressive-generation\[gpt2\]"):
        read_vocabulary(GPT2)
    assert loaded(GPT2).n_vocab == 64  # which needs no extra


# In the live views


def test_the_views_show_a_checkpoint(tmp_path: Path, words: TokenizerVocabulary) -> None:
    """Bug: a view takes for granted that the decoder or its vocabulary is the lesson's."""
    rng = np.random.default_rng(0)
    wte = rng.normal(0, 0.3, (290, 16)).astype(np.float32)
    model = loaded(write(tmp_path, TENSORS | {"transformer.wte.weight": wte}, vocab_size=290))
    prompt = words.encode("the cat")
    state = views.State((Decoder("checkpoint", model, words, end_id=0),), prompt=prompt, context_length=32)
    shown = [
        make(state)
        for make in (
            views.generation_explorer,
            views.chain_rule_view,
            views.cache_view,
            views.batch_view,
            views.search_view,
            views.window_view,
        )
    ]
    state.forward()
    (first,) = model.generate(prompt, 1, seed=0).token_ids
    assert words.tokens[first] in text(shown[0])
    for view in shown:
        assert "Ġ" in text(view) or "the cat" in text(view)
