"""The scripted cache: as strict as the decoder's own, and nothing beyond the contract's names."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course.checks.models import HistoryScript, ScheduleScript
from course.checks.scripted_cache import CachingModel, Pass, filled
from decoder_lib.errors import ContextOverflowError, StaleCacheError
from decoder_lib.model import CausalLanguageModel

SCRIPT = HistoryScript(7, 3)
TOKENS = st.lists(st.integers(0, 6), min_size=1, max_size=6)


def scripted() -> CachingModel:
    return CachingModel(SCRIPT, 16)


REFUSED: list[tuple[Any, type[Exception]]] = [
    ([], ValueError),
    ([7], ValueError),
    ([1.0], ValueError),
    ([[1, 2]], ValueError),
    ([0] * 15, ContextOverflowError),
]


@pytest.mark.parametrize(("token_ids", "error"), REFUSED)
def test_refuses_what_a_decoder_refuses(token_ids: Any, error: type[Exception]) -> None:
    """For a cached pass that is more lenient, or stricter, than the real one, or leaves something behind."""
    models: list[Any] = [CausalLanguageModel(n_vocab=7), scripted()]
    for model in models:
        cache = model.new_cache()
        model.logits([1, 2], cache=cache)
        with pytest.raises(error) as caught:
            model.logits(token_ids, cache=cache)
        assert type(caught.value) is error
        assert (cache.length, cache.token_ids) == (2, [1, 2])


def test_refuses_another_models_cache() -> None:
    """For a cache that is carried from one model to the next."""
    with pytest.raises(StaleCacheError, match="another model"):
        scripted().logits([1], cache=scripted().new_cache())


@pytest.mark.parametrize("cache", [[], 3, "cache"])
def test_refuses_what_is_no_cache(cache: Any) -> None:
    """For a list of tokens passed off as a cache."""
    with pytest.raises(TypeError, match=r"model\.new_cache"):
        scripted().logits([1], cache=cache)


@settings(deadline=None)
@given(parts=st.lists(TOKENS, min_size=1, max_size=3), length=st.integers(0, 6), more=TOKENS)
def test_rows_follow_from_all_that_the_cache_holds(
    parts: list[list[int]], length: int, more: list[int]
) -> None:
    """For a stale prefix or a wrong offset that changes nothing."""
    model = CachingModel(SCRIPT, 64)
    cache = model.new_cache()
    rows = np.concatenate([model.logits(part, cache=cache) for part in parts])
    whole = [token for part in parts for token in part]
    np.testing.assert_allclose(rows, model.logits(whole), rtol=1e-9)
    assert cache.token_ids == whole
    cache.crop(min(length, len(whole)))
    kept = whole[:length]
    after = model.logits(more, cache=cache)
    assert cache.token_ids == kept + more
    np.testing.assert_allclose(after, model.logits(kept + more)[len(kept) :], rtol=1e-9)


def test_cached_rows_are_not_equal_to_the_bit() -> None:
    """For a solution that asks for bit equality and gets it, as no decoder would give it; ties must stay."""
    model = scripted()
    assert not np.array_equal(model.logits([1, 2], cache=model.new_cache()), model.logits([1, 2]))
    level = CachingModel(ScheduleScript({}, [0.3, 0.7, 0.7]), 8)
    row = level.logits([1], cache=level.new_cache())[-1]
    assert row[1] == row[2] > row[0]


def test_passes_are_recorded_with_what_they_follow() -> None:
    """For a diagnosis that cannot tell a pass without a cache from one with an empty cache."""
    model = scripted()
    cache = model.new_cache()
    model.logits(np.array([1, 2]), cache)
    model.logits([3], cache=cache)
    model.logits([4])
    with pytest.raises(ValueError, match="empty"):
        model.logits([], cache=cache)
    assert model.passes == [Pass((1, 2), ()), Pass((3,), (1, 2)), Pass((4,), None), Pass((), (1, 2, 3))]
    assert [(call.token_ids, call.cache_length) for call in model.calls[:3]] == [
        ((1, 2), 0),
        ((3,), 2),
        ((4,), 0),
    ]
    assert model.passes[1].read == (1, 2, 3)


@pytest.mark.parametrize("length", [-1, 4, True, 1.0, None, "2"])
def test_crop_refuses_what_it_does_not_hold(length: Any) -> None:
    """For a crop that is more lenient than the decoder's own."""
    cache = filled(scripted(), (1, 2, 3))
    with pytest.raises(ValueError, match=r"length is .*from 0 to 3"):
        cache.crop(length)
    assert cache.token_ids == [1, 2, 3]


def test_token_ids_are_a_list_of_its_own() -> None:
    """For a cache that a student's `append` changes."""
    cache = filled(scripted(), (1, 2))
    cache.token_ids.append(5)
    assert cache.token_ids == [1, 2]
    assert type(cache.token_ids) is list


@pytest.mark.parametrize("name", ["copy", "reset", "keep_common_prefix", "append", "origin", "_keys"])
def test_cache_offers_no_other_name(name: str) -> None:
    """For a solution that relies on what the challenge does not offer."""
    cache: Any = scripted().new_cache()
    assert not hasattr(cache, name)
    with pytest.raises(AttributeError, match=f"no `{name}`: only the names in the challenge may be used"):
        getattr(cache, name)


@pytest.mark.parametrize("name", ["generate", "config", "parameters", "forward"])
def test_model_offers_no_other_name(name: str) -> None:
    """For a solution that hands its work to the library."""
    model: Any = scripted()
    assert not hasattr(model, name)
    with pytest.raises(AttributeError, match="new_cache"):
        getattr(model, name)


def test_copies_share_the_record() -> None:
    """For a door that copies the cache, so that what the student does to it is not seen."""
    model = scripted()
    cache = model.new_cache()
    again, other = copy.deepcopy((model, cache))
    again.logits([1, 2], cache=other)
    assert cache.token_ids == [1, 2]
    assert len(model.passes) == 1


def test_endless_loop_ends() -> None:
    """For a loop without a bound."""
    model = CachingModel(ScheduleScript({}, np.zeros(2)), 8, most_calls=20)
    for _ in range(20):
        model.logits([0], cache=model.new_cache())
    with pytest.raises(RuntimeError, match="does not end"):
        model.logits([0])
