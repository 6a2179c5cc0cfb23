"""One forward pass: what it computes, and what each row may depend on."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest
from naive_decoder import naive_logits, random_parameters

from decoder_lib import CausalLanguageModel, Config, ContextOverflowError
from decoder_lib.transformer import attention, gelu, layer_norm

CONFIGS = [
    Config(n_vocab=7),
    Config(n_vocab=5, context_length=9, n_layers=1, n_heads=1, d_model=6),
    Config(n_vocab=11, context_length=6, n_layers=3, n_heads=4, d_model=8),
    Config(n_vocab=1, context_length=4, n_layers=2, n_heads=4, d_model=4),
    Config(n_vocab=3, context_length=1, n_layers=2, n_heads=1, d_model=1),
]


@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_agrees_with_a_naive_pass(config: Config) -> None:
    """Bug: any of scale, mask, head layout, residuals, norm, activation, biases or tied unembedding wrong."""
    parameters = random_parameters(config)
    model = CausalLanguageModel.from_parameters(parameters, config)
    for length in {1, config.context_length // 2 + 1, config.context_length}:
        ids = np.random.default_rng(length).integers(config.n_vocab, size=length).tolist()
        logits = model.logits(ids)
        assert logits.shape == (length, config.n_vocab)
        assert logits.dtype == np.float64
        np.testing.assert_allclose(logits, naive_logits(ids, parameters, config), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("first_position", [1, 7, 13])
def test_first_position_shifts_the_positions(first_position: int) -> None:
    """Bug: `first_position` is dropped, so a window's tokens are read at other positions than stated."""
    config = CONFIGS[0]
    parameters = random_parameters(config)
    logits = CausalLanguageModel.from_parameters(parameters, config).logits(
        [3, 1, 2], first_position=first_position
    )
    expected = naive_logits([3, 1, 2], parameters, config, first_position)
    np.testing.assert_allclose(logits, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("changed", range(16))
def test_a_row_reads_its_own_past_and_nothing_later(model: CausalLanguageModel, changed: int) -> None:
    """Bug: the mask is off by one or missing, so a row sees a later token or misses its own."""
    ids = np.arange(16) % 7
    other = ids.copy()
    other[changed] = (ids[changed] + 3) % 7
    before, after = model.logits(ids), model.logits(other)
    assert before.shape == after.shape == (16, 7)
    np.testing.assert_allclose(before[:changed], after[:changed], rtol=0, atol=1e-12)
    assert (np.abs(before - after)[changed:].max(axis=1) > 1e-6).all()


def test_rows_do_not_change_as_the_prefix_grows(model: CausalLanguageModel) -> None:
    """Bug: a position's row depends on how long the whole sequence is."""
    ids = [2, 5, 5, 0, 1, 6, 3, 3]
    whole = model.logits(ids)
    for end in range(1, len(ids)):
        np.testing.assert_allclose(model.logits(ids[:end]), whole[:end], rtol=1e-12)


def test_order_and_position_matter(model: CausalLanguageModel) -> None:
    """Bug: position embeddings are not added, so equal tokens, or the same tokens reordered, score alike."""
    rows = model.logits([4, 4, 4])
    assert np.abs(rows[0] - rows[1]).max() > 1e-6
    assert np.abs(rows[1] - rows[2]).max() > 1e-6
    assert np.abs(model.logits([0, 1, 2])[-1] - model.logits([1, 0, 2])[-1]).max() > 1e-6


def test_what_is_read_is_left_alone(model: CausalLanguageModel) -> None:
    """Bug: the caller's ids are written to, or list, tuple and array give different logits."""
    as_list, as_array = [0, 1, 2], np.array([0, 1, 2], dtype=np.uint8)
    rows = [model.logits(as_list), model.logits(as_array), model.logits((0, 1, 2))]
    assert as_list == [0, 1, 2]
    assert as_array.tolist() == [0, 1, 2]
    np.testing.assert_array_equal(rows[0], rows[1])
    np.testing.assert_array_equal(rows[0], rows[2])


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([], "empty"),
        ([0, 7], r"token_ids\[1\] is 7.*0 to 6"),
        ([-1], r"token_ids\[0\] is -1.*0 to 6"),
        ([0.0, 1.0], "token_ids holds float64"),
        ([True, False], "token_ids holds bool"),
        (["the"], "token_ids holds"),
        ([[0, 1]], "token_ids has 2 dimensions"),
        (3, "token_ids has 0 dimensions"),
        ([0, [1]], "token_ids"),
        ([0, 2**70], "token_ids"),
    ],
    ids=str,
)
def test_illegal_ids_are_refused(model: CausalLanguageModel, ids: object, message: str) -> None:
    """Bug: an id outside the vocabulary wraps round or an odd input fails without saying which argument."""
    with pytest.raises(ValueError, match=message):
        model.logits(ids)  # type: ignore[arg-type]


def test_the_context_bound_is_exact(model: CausalLanguageModel) -> None:
    """Bug: the last position can't be used, or one too many is read."""
    assert model.logits([0] * 16).shape == (16, 7)
    with pytest.raises(ContextOverflowError, match=r"17.*16"):
        model.logits([0] * 17)
    with pytest.raises(ContextOverflowError, match=r"17.*16"):
        model.logits([0] * 4, first_position=13)
    with pytest.raises(ValueError, match=r"first_position is 16.*0 to 15"):
        model.logits([0], first_position=16)


def test_attention_lines_queries_up_with_the_last_positions() -> None:
    """Bug: with fewer queries than keys the mask is aligned to the upper left, or square."""
    rng = np.random.default_rng(0)
    queries, keys, values = rng.normal(size=(3, 6, 4))
    whole = attention(queries, keys, values)
    for n in range(1, 7):
        rows = attention(queries[-n:], keys, values)
        assert rows.shape == (n, 4)
        np.testing.assert_allclose(rows, whole[-n:], rtol=1e-12)


@pytest.mark.filterwarnings("error")
def test_attention_is_stable_for_large_scores() -> None:
    """Bug: `exp` overflows where the scores are large, and the mix is nan."""
    keys = np.array([[1e3], [-1e3], [2e3]])
    mixed = attention(np.array([[1e3]]), keys, np.array([[1.0], [2.0], [3.0]]))
    assert mixed.tolist() == [[3.0]]


def test_norm_divides_by_the_population_deviation() -> None:
    """Bug: the variance is divided by d - 1, or epsilon is left out and a constant vector gives nan."""
    parameters = {"n.weight": np.ones(2), "n.bias": np.zeros(2)}
    assert layer_norm(np.array([1.0, 3.0]), parameters, "n") == pytest.approx(
        np.array([-1.0, 1.0]) / np.sqrt(1 + 1e-5), rel=1e-15
    )
    assert layer_norm(np.array([5.0, 5.0]), parameters, "n").tolist() == [0.0, 0.0]


def test_gelu_is_the_tanh_form() -> None:
    """Bug: the exact error-function form, which differs from GPT-2's in the fourth digit."""
    assert gelu(np.array([1.0]))[0] == pytest.approx(0.8411919906082768, rel=1e-14)
    assert gelu(np.array([-30.0, 0.0, 30.0])).tolist() == [0.0, 0.0, 30.0]


def test_float32_stays_float32_until_the_logits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bug: a NumPy scalar promotes the pass to float64, which halves the speed that float32 is for."""
    from decoder_lib import transformer
    from decoder_lib.internal import step

    seen: dict[tuple[str, str], set[np.dtype]] = {}

    def watched(name: str, module: ModuleType = transformer) -> None:
        original = getattr(module, name)

        def wrapper(*args: object, **kwargs: object) -> np.ndarray:
            result = original(*args, **kwargs)
            arrays = [*(arg for arg in args if isinstance(arg, np.ndarray)), result]
            seen.setdefault((module.__name__, name), set()).update(
                array.dtype for array in arrays if array.dtype != bool
            )
            return result

        monkeypatch.setattr(module, name, wrapper)

    for name in ("linear", "layer_norm", "attention", "gelu", "softmax", "split_heads", "merge_heads"):
        watched(name)
    for name in ("linear", "norm", "gelu"):
        watched(name, step)
    model = CausalLanguageModel(n_vocab=7, seed=0, dtype=np.float32)
    cache = model.new_cache()
    rows = [
        model.logits([0, 1, 2]),
        model.logits([0, 1], cache=cache),
        model.logits([2], cache=cache),
        model.next_logits([[0], [1, 2]]),
    ]
    assert len(seen) == 10
    assert set().union(*seen.values()) == {np.dtype(np.float32)}
    assert {row.dtype for row in rows} == {np.dtype(np.float64)}


def test_float32_and_float64_agree_to_float32() -> None:
    """Bug: the narrow decoder computes something else than the wide one."""
    wide, narrow = (CausalLanguageModel(n_vocab=7, seed=3, dtype=dtype) for dtype in (np.float64, "float32"))
    np.testing.assert_allclose(narrow.logits([0, 1, 2, 3]), wide.logits([0, 1, 2, 3]), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("dtype", ["float16", "int64", "complex128"])
def test_other_number_types_are_refused(dtype: str) -> None:
    """Bug: a type that the pass was never meant for is taken silently."""
    with pytest.raises(ValueError, match=f"dtype is {dtype}.*float32 or float64"):
        CausalLanguageModel(n_vocab=7, seed=0, dtype=dtype)
