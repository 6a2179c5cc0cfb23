"""The cache of several prefixes: equal to the passes without it, at the cost of the rows that go on."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from fake_models import RecordingModel
from hypothesis import given, settings
from hypothesis import strategies as st

from decoder_lib import (
    BatchCache,
    CausalLanguageModel,
    ContextOverflowError,
    KVCache,
    StaleCacheError,
    generate_batch,
)

assert_close = partial(np.testing.assert_allclose, rtol=1e-9, atol=1e-11)  # a logit may be near zero
MODEL = CausalLanguageModel(n_vocab=7, seed=0)
TOKENS = st.integers(0, 6)
PREFIXES = st.lists(st.lists(TOKENS, min_size=1, max_size=11), min_size=1, max_size=5)
pytestmark = pytest.mark.filterwarnings("error")
often = settings(deadline=None, derandomize=True, max_examples=60)


def last_rows(prefixes: list[list[int]]) -> np.ndarray:
    """What follows each prefix, by one pass each without a cache."""
    return np.array([MODEL.logits(prefix)[-1] for prefix in prefixes])


@often
@given(prefixes=PREFIXES, more=st.lists(TOKENS, min_size=25, max_size=25), drops=st.sets(st.integers(0, 4)))
def test_ragged_rows_grow_and_fall_away(prefixes: list[list[int]], more: list[int], drops: set[int]) -> None:
    """Bug: a row reads another's tokens, padding, or a dropped row; or it is read at wrong positions."""
    tokens = iter(more)
    cache = MODEL.new_batch_cache(len(prefixes))
    assert_close(MODEL.next_logits(prefixes, cache), last_rows(prefixes))
    for turn in range(5):
        if turn in drops and len(prefixes) > 1:
            place = turn % len(prefixes)
            cache.drop(place)
            prefixes[place] = prefixes[-1]
            prefixes = prefixes[:-1]
        fed = [[next(tokens)] for _ in prefixes]
        prefixes = [[*prefix, *new] for prefix, new in zip(prefixes, fed, strict=True)]
        assert_close(MODEL.next_logits(fed, cache), last_rows(prefixes))
        assert cache.lengths.tolist() == [len(prefix) for prefix in prefixes]


@often
@given(
    prefixes=PREFIXES, choice=st.lists(st.integers(0, 4), min_size=1, max_size=6), token_ids=st.tuples(TOKENS)
)
def test_selected_rows_go_on_apart(
    prefixes: list[list[int]], choice: list[int], token_ids: tuple[int]
) -> None:
    """Bug: two continuations of one row write over each other, or over the row they came from."""
    cache = MODEL.new_batch_cache(len(prefixes))
    MODEL.next_logits(prefixes, cache)
    rows = [place % len(prefixes) for place in choice]
    branches = cache.select(rows)
    fed = [[(token_ids[0] + place) % 7] for place in range(len(rows))]
    grown = [[*prefixes[row], *new] for row, new in zip(rows, fed, strict=True)]
    assert_close(MODEL.next_logits(fed, branches), last_rows(grown))
    assert_close(MODEL.next_logits([[5]] * len(prefixes), cache), last_rows([[*p, 5] for p in prefixes]))


@pytest.mark.parametrize("kind", [KVCache, BatchCache])
def test_a_step_copies_no_cache(monkeypatch: pytest.MonkeyPatch, kind: type) -> None:
    """Bug: keys and values are joined into new arrays at each step, which costs more the longer the text."""
    caches = {KVCache: MODEL.new_cache(), BatchCache: MODEL.new_batch_cache(3)}
    handed: list[np.ndarray] = []
    append = kind.append

    def watched(*args: object) -> tuple[np.ndarray, np.ndarray]:
        views = append(*args)
        handed.extend(views)
        return views

    monkeypatch.setattr(kind, "append", watched)
    cache = caches[kind]
    keys, values = cache._keys, cache._values
    for fed in ([0, 1, 2], [3], [4]):
        if kind is KVCache:
            MODEL.logits(fed, cache=cache)
        else:
            MODEL.next_logits([fed] * 3, cache)
    assert len(handed) == 3 * 2 * 2  # passes, layers, keys and values
    assert all(np.shares_memory(view, keys) or np.shares_memory(view, values) for view in handed)
    assert cache._keys is keys


def test_what_was_never_written_is_never_mixed_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bug: a shorter row's share of zero is multiplied by memory that holds nan, and the row is nan."""
    monkeypatch.setattr(np, "empty", lambda shape, dtype=float: np.full(shape, np.nan, dtype))
    cache = MODEL.new_batch_cache(2)
    MODEL.next_logits([[0, 1, 2], [3]], cache)
    assert_close(MODEL.next_logits([[4], [5]], cache), last_rows([[0, 1, 2, 4], [3, 5]]))


def test_dropping_copies_one_row() -> None:
    """Bug: all rows behind the one that ended are copied."""
    cache = MODEL.new_batch_cache(4)
    MODEL.next_logits([[b, 1, 2] for b in range(4)], cache)
    keys, before = cache._keys, cache._keys[..., :3, :].copy()
    cache.drop(1)
    assert cache._keys is keys
    after = keys[..., :3, :]
    changed = [b for b in range(4) if not np.array_equal(after[:, b], before[:, b])]
    assert changed == [1]
    np.testing.assert_array_equal(after[:, 1], before[:, 3])


@pytest.mark.parametrize("greedy", [True, False], ids=["greedy", "sampling"])
@pytest.mark.parametrize("max_new_tokens", [0, 1, 10])
def test_a_batch_writes_the_same_with_a_cache(greedy: bool, max_new_tokens: int) -> None:
    """Bug: rows are mixed up where one ends, or the draws of a shared order change."""
    prompts = [[0, 1, 2], [5], [6, 6], [3, 4, 3, 4, 3, 4, 3, 4, 3, 4, 3, 4], [2] * 16]
    for end_id in (None, *range(7)):
        both = [
            generate_batch(
                MODEL,
                prompts,
                max_new_tokens,
                end_id=end_id,
                seeds=[4, 0, 11, 4, 2],
                greedy=greedy,
                use_cache=use_cache,
            )
            for use_cache in (False, True)
        ]
        assert both[0].continuations == both[1].continuations
        assert both[0].finish_reasons == both[1].finish_reasons
        assert both[0].finished_by_round.tolist() == both[1].finished_by_round.tolist()


def test_a_shared_generator_is_drawn_from_in_row_order() -> None:
    """Bug: the cache's order of rows, which changes where one ends, becomes the order of the draws."""
    both = [
        generate_batch(
            MODEL,
            [[b] for b in range(6)],
            9,
            end_id=6,
            seeds=[np.random.default_rng(3)] * 6,
            use_cache=cached,
        )
        for cached in (False, True)
    ]
    assert both[0].continuations == both[1].continuations
    assert len(set(both[0].lengths.tolist())) > 1


def test_each_position_is_fed_once_and_ended_rows_never() -> None:
    """Bug: a batch with a cache reads its prompts again, or pays for rows that have ended."""
    recording = RecordingModel(MODEL)
    run = generate_batch(recording, [[0, 1], [2], [3, 4, 5]], 8, end_id=6, seeds=[0, 1, 2], use_cache=True)
    assert len(set(run.lengths.tolist())) > 1
    assert recording.rounds[0] == [[0, 1], [2], [3, 4, 5]]
    assert all(len(fed) == 1 for batch in recording.rounds[1:] for fed in batch)
    going = [int((run.lengths >= made).sum()) for made in range(1, run.lengths.max() + 1)]
    assert [len(batch) for batch in recording.rounds] == going


def test_what_does_not_fit_is_refused_and_nothing_changes() -> None:
    """Bug: a batch reads keys of other parameters, runs past its room, or loses count after an error."""
    cache = MODEL.new_batch_cache(2, capacity=5)
    other = CausalLanguageModel(n_vocab=7, seed=1)
    with pytest.raises(StaleCacheError, match="parameters differ"):
        other.next_logits([[0], [1]], cache)
    MODEL.next_logits([[0, 1, 2], [3]], cache)
    for prefixes, error, message in [
        ([[0]], ValueError, "there are 1 prefixes; this cache has 2 rows"),
        ([[0], [1, 2]], ValueError, "have 1 to 2 tokens"),
        (
            [[0, 0, 0], [1, 1, 1]],
            ContextOverflowError,
            r"prefixes\[0\] has 3 tokens behind the 3 .* at most 5",
        ),
        ([[0], [7]], ValueError, r"prefixes\[1\]\[0\] is 7"),
    ]:
        with pytest.raises(error, match=message):
            MODEL.next_logits(prefixes, cache)
    assert cache.lengths.tolist() == [3, 1]
    assert_close(MODEL.next_logits([[4], [4]], cache), last_rows([[0, 1, 2, 4], [3, 4]]))
    with pytest.raises(ValueError, match="row is 2"):
        cache.drop(2)
    with pytest.raises(ValueError, match="capacity is 17"):
        MODEL.new_batch_cache(1, 17)


def test_a_cache_counts_its_rows_and_hides_its_counts() -> None:
    """Bug: a caller's arithmetic changes what the cache believes to hold."""
    cache = MODEL.new_batch_cache(2)
    MODEL.next_logits([[0], [1, 2]], cache)
    cache.lengths[0] = 9
    assert cache.lengths.tolist() == [1, 2]
    assert (len(cache), repr(cache)) == (2, "BatchCache(lengths=[1, 2])")
