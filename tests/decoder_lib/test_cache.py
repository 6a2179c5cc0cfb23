"""The key/value cache: equal to the pass without it, and refused wherever it does not fit."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_decoder import random_parameters

from decoder_lib import CausalLanguageModel, Config, ContextOverflowError, StaleCacheError

assert_close = partial(np.testing.assert_allclose, rtol=1e-9)
MODEL = CausalLanguageModel(n_vocab=7, seed=0)
TOKENS = st.integers(0, 6)
often = settings(deadline=None, derandomize=True, max_examples=60)


@often
@given(ids=st.lists(TOKENS, min_size=1, max_size=16), cuts=st.sets(st.integers(1, 15)))
def test_chunks_of_any_sizes_equal_the_full_pass(ids: list[int], cuts: set[int]) -> None:
    """Bug: positions restart in a chunk, or the mask is wrong for fewer queries than keys."""
    cache = MODEL.new_cache()
    edges = [0, *sorted(cut for cut in cuts if cut < len(ids)), len(ids)]
    rows = []
    for start, end in pairwise(edges):
        rows.append(MODEL.logits(ids[start:end], cache=cache))
        assert rows[-1].shape == (end - start, 7)
        assert cache.length == end
        assert cache.token_ids == ids[:end]
    assert_close(np.concatenate(rows), MODEL.logits(ids))


@often
@given(
    ids=st.lists(TOKENS, min_size=1, max_size=16),
    length=st.integers(0, 15),
    refill=st.lists(TOKENS, min_size=1, max_size=16),
)
def test_crop_then_refill_equals_a_fresh_pass(ids: list[int], length: int, refill: list[int]) -> None:
    """Bug: rows of cropped positions are still read, or new ones are written behind them."""
    length = min(length, len(ids))
    refill = refill[: 16 - length] or [0]
    cache = MODEL.new_cache()
    MODEL.logits(ids, cache=cache)
    cache.crop(length)
    assert (cache.length, cache.token_ids) == (length, ids[:length])
    rows = MODEL.logits(refill, cache=cache)
    assert rows.shape == (len(refill), 7)
    assert_close(rows, MODEL.logits(ids[:length] + refill)[length:])


def test_two_branches_of_a_copy_do_not_touch_each_other() -> None:
    """Bug: `copy` shares its arrays or its tokens, so one branch overwrites the other."""
    trunk = MODEL.new_cache()
    MODEL.logits([0, 1, 2], cache=trunk)
    branch = trunk.copy()
    MODEL.logits([3, 4], cache=trunk)
    MODEL.logits([5, 6], cache=branch)
    branch.crop(4)
    assert trunk.token_ids == [0, 1, 2, 3, 4]
    assert branch.token_ids == [0, 1, 2, 5]
    assert_close(MODEL.logits([1], cache=trunk), MODEL.logits([0, 1, 2, 3, 4, 1])[-1:])
    assert_close(MODEL.logits([1], cache=branch), MODEL.logits([0, 1, 2, 5, 1])[-1:])


@pytest.mark.parametrize(
    ("prefix", "kept"),
    [
        ([0, 1, 2, 3], 4),
        ([0, 1, 2, 3, 4], 4),
        ([0, 1, 5, 3], 2),
        ([6, 1, 2, 3], 0),
        ([0, 1], 2),
        ([], 0),
        (np.array([0, 1, 2]), 3),
    ],
    ids=str,
)
def test_common_prefix_is_kept_and_the_rest_goes(prefix: list[int], kept: int) -> None:
    """Bug: a stale position behind an edited token stays in use, though a later token agrees again."""
    cache = MODEL.new_cache()
    MODEL.logits([0, 1, 2, 3], cache=cache)
    assert cache.keep_common_prefix(prefix) == kept
    assert cache.token_ids == [0, 1, 2, 3][:kept]


def test_reset_forgets_the_previous_prompt() -> None:
    """Bug: the second prompt is read after the first one."""
    cache = MODEL.new_cache()
    MODEL.logits([0, 1, 2], cache=cache)
    cache.reset()
    assert (cache.length, cache.token_ids) == (0, [])
    assert_close(MODEL.logits([4, 4], cache=cache), MODEL.logits([4, 4]))


def test_token_ids_is_a_copy() -> None:
    """Bug: a caller's list operation rewrites what the cache believes to hold."""
    cache = MODEL.new_cache()
    MODEL.logits(np.array([0, 1, 2]), cache=cache)
    cache.token_ids.append(5)
    assert cache.token_ids == [0, 1, 2]
    assert type(cache.token_ids) is list
    assert {type(token) for token in cache.token_ids} == {int}


@pytest.mark.parametrize("length", [-1, 4, True, 1.0, None, "2"])
def test_crop_refuses_what_it_does_not_hold(length: object) -> None:
    """Bug: a negative or too large length crops from the wrong end or not at all."""
    cache = MODEL.new_cache()
    MODEL.logits([0, 1, 2], cache=cache)
    with pytest.raises(ValueError, match=r"length is .*from 0 to 3"):
        cache.crop(length)  # type: ignore[arg-type]
    assert cache.token_ids == [0, 1, 2]


@pytest.mark.parametrize(
    ("ids", "error"),
    [([4] * 14, ContextOverflowError), ([7], ValueError), ([], ValueError), ([0.5], ValueError)],
    ids=str,
)
def test_a_refused_pass_leaves_the_cache_as_it_was(ids: list[int], error: type[Exception]) -> None:
    """Bug: half a pass is stored before the input is found wrong."""
    cache = MODEL.new_cache()
    MODEL.logits([0, 1, 2], cache=cache)
    with pytest.raises(error):
        MODEL.logits(ids, cache=cache)
    assert cache.token_ids == [0, 1, 2]
    assert_close(MODEL.logits([3], cache=cache), MODEL.logits([0, 1, 2, 3])[-1:])


def test_a_pass_that_breaks_off_leaves_the_cache_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bug: an error in the second block leaves the first block a position ahead."""
    from decoder_lib import transformer

    cache = MODEL.new_cache()
    MODEL.logits([0, 1, 2], cache=cache)
    original, calls = transformer.attention, []

    def breaks_in_the_second_block(*args: np.ndarray) -> np.ndarray:
        calls.append(args)
        if len(calls) == 2:
            raise MemoryError
        return original(*args)

    with monkeypatch.context() as patch:
        patch.setattr(transformer, "attention", breaks_in_the_second_block)
        with pytest.raises(MemoryError):
            MODEL.logits([5, 5], cache=cache)
    assert cache.token_ids == [0, 1, 2]
    assert_close(MODEL.logits([3], cache=cache), MODEL.logits([0, 1, 2, 3])[-1:])


def test_the_cache_holds_the_whole_context() -> None:
    """Bug: the last position of the context has no row in the cache."""
    cache = MODEL.new_cache()
    for token_id in [3] * 16:
        row = MODEL.logits([token_id], cache=cache)
    assert cache.length == 16
    assert_close(row, MODEL.logits([3] * 16)[-1:])
    with pytest.raises(ContextOverflowError, match=r"17.*16"):
        MODEL.logits([0], cache=cache)


def test_another_decoders_cache_is_refused() -> None:
    """Bug: keys of other parameters are read, which gives plausible nonsense."""
    other = CausalLanguageModel(n_vocab=7, seed=1)
    cache = other.new_cache()
    other.logits([0, 1], cache=cache)
    with pytest.raises(StaleCacheError, match="parameters differ"):
        MODEL.logits([2], cache=cache)
    assert cache.token_ids == [0, 1]


def test_other_heads_over_the_same_parameters_are_refused() -> None:
    """Bug: the head count shows in no parameter's shape, so the two decoders pass for one."""
    config = [Config(n_vocab=7, n_heads=n_heads) for n_heads in (2, 4)]
    parameters = random_parameters(config[0])
    two, four = (CausalLanguageModel.from_parameters(parameters, each) for each in config)
    assert np.abs(two.logits([0, 1, 2]) - four.logits([0, 1, 2])).max() > 1e-6
    assert two.fingerprint != four.fingerprint
    with pytest.raises(StaleCacheError, match="parameters"):
        four.logits([0], cache=two.new_cache())


def test_another_number_type_is_refused() -> None:
    """Bug: a float32 decoder's keys are mixed into a float64 pass."""
    narrow = CausalLanguageModel(n_vocab=7, seed=0, dtype=np.float32)
    with pytest.raises(StaleCacheError, match="parameters differ"):
        MODEL.logits([0], cache=narrow.new_cache())


def test_another_position_convention_is_refused() -> None:
    """Bug: keys computed at other positions are read as if positions had been re-assigned."""
    cache = MODEL.new_cache(first_position=2)
    MODEL.logits([0, 1], cache=cache, first_position=2)
    with pytest.raises(StaleCacheError, match=r"position convention differs.*2.*0"):
        MODEL.logits([2], cache=cache)
    rows = MODEL.logits([2], cache=cache, first_position=2)
    assert_close(rows, MODEL.logits([0, 1, 2], first_position=2)[-1:])


@pytest.mark.parametrize("first_position", [0, 5, 15])
def test_a_shifted_cache_ends_where_the_context_ends(first_position: int) -> None:
    """Bug: the room behind `first_position` is counted from 0."""
    cache = MODEL.new_cache(first_position=first_position)
    MODEL.logits([1] * (16 - first_position), cache=cache, first_position=first_position)
    with pytest.raises(ContextOverflowError, match=r"17.*16"):
        MODEL.logits([1], cache=cache, first_position=first_position)


@pytest.mark.parametrize(("prefix", "place"), [([0, 5, 2], 1), ([0, 1], 2), ([0, 1, 2, 3], 3)], ids=str)
def test_another_prefix_is_refused(prefix: list[int], place: int) -> None:
    """Bug: tokens are fed after a prefix that the cache does not stand for."""
    cache = MODEL.new_cache()
    MODEL.logits([0, 1, 2], cache=cache)
    with pytest.raises(StaleCacheError, match=f"prefix differs from position {place} on"):
        MODEL.logits([4], cache=cache, prefix=prefix)
    assert cache.token_ids == [0, 1, 2]
    MODEL.logits([4], cache=cache, prefix=np.array([0, 1, 2]))
    assert cache.token_ids == [0, 1, 2, 4]


def test_prefix_without_a_cache_is_refused() -> None:
    """Bug: the prefix is taken for tokens to read and silently left out."""
    with pytest.raises(ValueError, match="prefix is given without a cache"):
        MODEL.logits([2], prefix=[0, 1])


def test_equal_parameters_may_share_a_cache() -> None:
    """Bug: a cache is tied to the object and not to what was computed."""
    twin = CausalLanguageModel(n_vocab=7, seed=0)
    cache = MODEL.new_cache()
    MODEL.logits([0, 1], cache=cache)
    assert_close(twin.logits([2], cache=cache), MODEL.logits([0, 1, 2])[-1:])


def test_parameters_can_not_change_behind_a_cache() -> None:
    """Bug: a parameter is overwritten or replaced, and the cache's fingerprint still matches."""
    model = CausalLanguageModel(n_vocab=7, seed=0)
    with pytest.raises(ValueError, match="read-only"):
        model.parameters["wte"][0, 0] = 1.0
    with pytest.raises(TypeError):
        model.parameters["wte"] = np.zeros((7, 16))  # type: ignore[index]


def test_given_parameters_are_copied() -> None:
    """Bug: the caller's array is made read-only, or changing it changes the decoder."""
    config = Config(n_vocab=7)
    parameters = random_parameters(config)
    model = CausalLanguageModel.from_parameters(parameters, config)
    before = model.logits([0, 1])
    parameters["wte"][:] = 0.0
    np.testing.assert_array_equal(model.logits([0, 1]), before)


def test_a_float32_cache_is_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bug: the cache of a float32 decoder is float64: twice the memory, and a promoted pass."""
    from decoder_lib import KVCache

    append, returned = KVCache.append, []

    def watched(cache: KVCache, *args: object) -> tuple[np.ndarray, np.ndarray]:
        returned.extend(append(cache, *args))  # type: ignore[arg-type]
        return returned[-2], returned[-1]

    monkeypatch.setattr(KVCache, "append", watched)
    model = CausalLanguageModel(n_vocab=7, seed=0, dtype=np.float32)
    cache = model.new_cache()
    model.logits([0, 1, 2], cache=cache)
    assert model.logits([3], cache=cache).dtype == np.float64
    assert len(returned) == 8
    assert {array.dtype for array in returned} == {np.dtype(np.float32)}
