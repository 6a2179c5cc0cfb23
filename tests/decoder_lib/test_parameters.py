"""Parameters: their draw, their fingerprint, and the files that hold them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from naive_decoder import random_parameters

from decoder_lib import CausalLanguageModel, Config, load
from decoder_lib.parameters import (
    check_parameters,
    draw_parameters,
    load_parameters,
    parameter_shapes,
    save_parameters,
)

CONFIG = Config(n_vocab=5, context_length=6, n_layers=2, n_heads=2, d_model=4)


@pytest.fixture
def parameters() -> dict[str, np.ndarray]:
    return random_parameters(CONFIG)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_round_trip(tmp_path: Path, parameters: dict[str, np.ndarray], dtype: type) -> None:
    """Bug: a value, a number type or the shape of the decoder is lost in the file."""
    narrow = {name: value.astype(dtype) for name, value in parameters.items()}
    save_parameters(tmp_path / "p.npz", narrow, CONFIG)
    found, config = load_parameters(str(tmp_path / "p.npz"))
    assert config == CONFIG
    assert found.keys() == narrow.keys()
    for name, value in narrow.items():
        assert found[name].dtype == dtype
        np.testing.assert_array_equal(found[name], value)


def test_same_parameters_same_bytes(tmp_path: Path, parameters: dict[str, np.ndarray]) -> None:
    """Bug: the time of writing, or the order of a dictionary, shows in the file."""
    save_parameters(tmp_path / "a.npz", parameters, CONFIG)
    save_parameters(tmp_path / "b.npz", dict(reversed(parameters.items())), CONFIG)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_a_file_holds_what_was_saved_and_nothing_else(
    tmp_path: Path, parameters: dict[str, np.ndarray]
) -> None:
    """Bug: an option of NumPy's own is stored as one more array where that version does not know it."""
    save_parameters(tmp_path / "p.npz", parameters, CONFIG)
    with np.load(tmp_path / "p.npz") as file:
        assert set(file.files) == {"config", *parameter_shapes(CONFIG)}


def test_a_shape_out_of_an_array_can_be_saved(tmp_path: Path, parameters: dict[str, np.ndarray]) -> None:
    """Bug: sizes that are NumPy integers are taken by Config and refused by the file."""
    sizes = Config(*(np.int64(size) for size in (5, 6, 2, 2, 4)))  # type: ignore[arg-type]
    save_parameters(tmp_path / "p.npz", parameters, sizes)
    assert load_parameters(tmp_path / "p.npz")[1] == CONFIG


def test_the_path_is_taken_as_it_is(tmp_path: Path, parameters: dict[str, np.ndarray]) -> None:
    """Bug: a suffix is added, and the file can't be found under the name it was saved by."""
    save_parameters(tmp_path / "no_suffix", parameters, CONFIG)
    assert [path.name for path in tmp_path.iterdir()] == ["no_suffix"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p: p.pop("wpe"), "'wpe' is missing"),
        (lambda p: p.pop("h.1.mlp.c_proj.bias"), r"'h\.1\.mlp\.c_proj\.bias' is missing"),
        (lambda p: p.update(wte=np.zeros((5, 5))), r"'wte' has shape \(5, 5\).*\(5, 4\)"),
        (lambda p: p.update(wte=np.zeros(20)), r"'wte' has shape \(20,\).*\(5, 4\)"),
        (lambda p: p.update(lm_head=np.zeros((4, 5))), "'lm_head' is not one"),
        (lambda p: p["ln_f.bias"].fill(np.nan), r"'ln_f\.bias' holds values that are not finite"),
        (lambda p: p["wte"].fill(np.inf), "'wte' holds values that are not finite"),
        (lambda p: p.update(wte=p["wte"].astype(complex)), "'wte' holds complex128"),
        (lambda p: p.update(wte=p["wte"].astype(str)), "'wte' holds <U"),
        (lambda p: p.update(wte=p["wte"].astype(object)), "'wte' holds object"),
    ],
)
def test_parameters_that_do_not_fit_are_named(
    tmp_path: Path,
    parameters: dict[str, np.ndarray],
    change: object,
    message: str,
) -> None:
    """Bug: a missing, misshapen, unknown or broken parameter passes, or fails without its name."""
    change(parameters)  # type: ignore[operator]
    for use in (
        lambda: check_parameters(parameters, CONFIG),
        lambda: save_parameters(tmp_path / "p.npz", parameters, CONFIG),
        lambda: CausalLanguageModel.from_parameters(parameters, CONFIG),
    ):
        with pytest.raises(ValueError, match=message):
            use()
    assert not list(tmp_path.iterdir())


def test_values_beyond_float32_are_refused(parameters: dict[str, np.ndarray]) -> None:
    """Bug: parameters are found finite as float64 and then cast to infinity."""
    parameters["wte"][0, 0] = 1e300
    with pytest.raises(ValueError, match=r"'wte'.*not finite"):
        CausalLanguageModel.from_parameters(parameters, CONFIG, dtype=np.float32)


def broken_files(folder: Path) -> dict[str, Path]:
    """One file of each kind that is no parameter file."""
    paths = {
        name: folder / f"{name}.npz"
        for name in ("empty", "text", "array", "cut", "no_config", "bad_json", "no_shape", "unknown_size")
    }
    good = folder / "good.npz"
    save_parameters(good, random_parameters(CONFIG), CONFIG)
    paths["empty"].write_bytes(b"")
    paths["text"].write_text("the cat sat")
    with paths["array"].open("wb") as file:
        np.save(file, np.zeros(3))
    paths["cut"].write_bytes(good.read_bytes()[:1000])
    np.savez(paths["no_config"], wte=np.zeros((5, 4)))
    np.savez(paths["bad_json"], config=np.array("{"))
    np.savez(paths["no_shape"], config=np.array("[7]"))
    np.savez(paths["unknown_size"], config=np.array(json.dumps({"n_vocab": 7, "n_experts": 2})))
    return paths


@pytest.mark.parametrize(
    "kind", ["empty", "text", "array", "cut", "no_config", "bad_json", "no_shape", "unknown_size"]
)
def test_a_file_of_another_kind_is_refused(tmp_path: Path, kind: str) -> None:
    """Bug: what is no parameter file fails with whatever the zip reader happens to raise, and no path."""
    path = broken_files(tmp_path)[kind]
    with pytest.raises(ValueError, match=f"{kind}.npz"):
        load_parameters(path)


def test_a_missing_file_is_missing(tmp_path: Path) -> None:
    """Bug: a wrong path is reported as a broken file."""
    with pytest.raises(FileNotFoundError, match="nowhere"):
        load_parameters(tmp_path / "nowhere.npz")


def test_a_draw_is_reproducible() -> None:
    """Bug: the draw depends on global state, or the seed is left out."""
    first, again, other = (draw_parameters(CONFIG, seed) for seed in (3, 3, 4))
    assert fingerprint_of(first) == fingerprint_of(again) != fingerprint_of(other)
    assert {name: value.shape for name, value in first.items()} == parameter_shapes(CONFIG)
    assert first["wte"].std() == pytest.approx(0.3, rel=0.5)


def fingerprint_of(parameters: dict[str, np.ndarray]) -> str:
    return CausalLanguageModel.from_parameters(parameters, CONFIG).fingerprint


def test_a_fingerprint_changes_with_any_value(parameters: dict[str, np.ndarray]) -> None:
    """Bug: a parameter, or the end of one, is left out of the digest."""
    seen = {fingerprint_of(parameters)}
    for name, value in parameters.items():
        for place in (0, value.size - 1):
            changed = value.copy()
            changed.flat[place] = np.nextafter(changed.flat[place], np.inf)
            seen.add(fingerprint_of(parameters | {name: changed}))
    assert len(seen) == 1 + 2 * len(parameters)


def test_a_fingerprint_does_not_hang_on_order(parameters: dict[str, np.ndarray]) -> None:
    """Bug: equal decoders refuse each other's caches because their dictionaries were filled differently."""
    turned = {name: np.asfortranarray(value) for name, value in reversed(parameters.items())}
    assert fingerprint_of(turned) == fingerprint_of(parameters)


def test_swapped_names_change_the_fingerprint(parameters: dict[str, np.ndarray]) -> None:
    """Bug: the digest runs over the values and not over whose they are."""
    swapped = parameters | {"ln_f.weight": parameters["ln_f.bias"], "ln_f.bias": parameters["ln_f.weight"]}
    assert fingerprint_of(swapped) != fingerprint_of(parameters)


def test_the_lesson_s_shape_without_a_seed_is_the_lesson_s_decoder() -> None:
    """Bug: the shipped file is not read, or is read for shapes and seeds that it does not belong to."""
    lesson = CausalLanguageModel(n_vocab=7)
    assert lesson.fingerprint == load("lesson").fingerprint
    assert lesson.config == Config(n_vocab=7)
    assert CausalLanguageModel(n_vocab=7, seed=0).fingerprint != lesson.fingerprint
    assert CausalLanguageModel(8).fingerprint == CausalLanguageModel(8, seed=0).fingerprint


@pytest.mark.parametrize("name", ["gpt2", "", "../data/lesson", "lesson.npz", None])
def test_only_shipped_decoders_can_be_loaded(name: str) -> None:
    """Bug: a name is taken for a path, or the error does not say what there is."""
    with pytest.raises(ValueError, match="lesson"):
        load(name)  # type: ignore[arg-type]


def test_a_decoder_shows_its_shape() -> None:
    """Bug: a decoder at the end of a cell prints its parameters."""
    shown = repr(CausalLanguageModel(n_vocab=7, seed=0))
    assert "n_vocab=7" in shown
    assert len(shown) < 160


def test_the_trained_decoder_has_the_lesson_s_shape() -> None:
    """Bug: the twin has another shape or vocabulary, or is a copy of the untrained decoder."""
    trained, lesson = load("trained"), load("lesson")
    assert trained.config == lesson.config
    assert trained.fingerprint != lesson.fingerprint
