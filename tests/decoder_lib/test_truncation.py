"""What is read once the prefix no longer fits the context."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decoder_lib import CausalLanguageModel, KeepFirst, drop_oldest, stop

MODEL = CausalLanguageModel(n_vocab=7, seed=0)


@st.composite
def policies(draw: st.DrawFn) -> tuple[int, KeepFirst]:
    """A context bound, and a policy that leaves room within it."""
    bound = draw(st.integers(2, 16))
    n_first = draw(st.integers(0, bound - 2))
    return bound, KeepFirst(n_first, draw(st.integers(1, bound - n_first - 1)))


def fed(windows: list[list[int]]) -> list[int]:
    """What a cache leaves to read: all behind the part shared with the pass before, one at least."""
    counts, held = [], []
    for window in windows:
        same = [ours == theirs for ours, theirs in zip(held, window[:-1], strict=False)]
        counts.append(len(window) - (same.index(False) if False in same else len(same)))
        held = window
    return counts


def expected_windows(prompt: list[int], tokens: list[int], bound: int, policy: KeepFirst) -> list[list[int]]:
    """What each pass reads, told without the library: one list of what is kept, cut as the policy says."""
    window, windows = list(prompt), []
    for token in tokens:
        if len(window) >= bound:
            head, tail = window[: policy.n_first], window[policy.n_first :]
            surplus = len(window) - (bound - 1)
            window = head + tail[max(policy.n_drop, surplus) :]
        windows.append(window)
        window = [*window, token]
    return windows


@settings(deadline=None, derandomize=True, max_examples=25)
@given(
    bounded=policies(),
    prompt=st.lists(st.integers(0, 6), min_size=1, max_size=40),
    seed=st.integers(0, 1000),
    greedy=st.booleans(),
)
def test_cached_and_uncached_runs_are_the_same(
    bounded: tuple[int, KeepFirst], prompt: list[int], seed: int, greedy: bool
) -> None:
    """Bug: kept tokens have moved, and the cache still holds them at their old positions."""
    bound, policy = bounded
    plain, cached = (
        MODEL.generate(
            prompt,
            120,
            seed=seed,
            greedy=greedy,
            context_length=bound,
            truncate=policy,
            use_cache=use_cache,
        )
        for use_cache in (False, True)
    )
    assert (len(plain), plain.finish_reason) == (120, "length")
    assert cached.token_ids == plain.token_ids
    assert cached.log_probability == pytest.approx(plain.log_probability, rel=1e-9)
    windows = expected_windows(prompt, plain.token_ids, bound, policy)
    assert [step.context.tolist() for step in plain] == windows
    assert [step.context.tolist() for step in cached] == windows
    assert max(map(len, windows)) < bound
    assert [step.positions_read for step in plain] == [len(window) for window in windows]
    assert [step.positions_read for step in cached] == fed(windows)


def test_a_long_run_in_a_sliding_window() -> None:
    """Bug: an error grows, or the loop slows to a halt, hundreds of tokens past the bound."""
    plain = MODEL.generate([0, 1, 2], 400, seed=5, truncate=KeepFirst(0))
    cached = MODEL.generate([0, 1, 2], 400, seed=5, truncate=KeepFirst(0), use_cache=True)
    assert len(plain) == 400
    assert cached.token_ids == plain.token_ids


def test_windows_of_each_policy() -> None:
    """Bug: the newest tokens are dropped, the first are not kept, or one too few is dropped."""
    window = list(range(10))
    assert KeepFirst(0)(window, 10) == [1, 2, 3, 4, 5, 6, 7, 8, 9]
    assert KeepFirst(0, 4)(window, 10) == [4, 5, 6, 7, 8, 9]
    assert KeepFirst(2)(window, 10) == [0, 1, 3, 4, 5, 6, 7, 8, 9]
    assert KeepFirst(2, 5)(window, 10) == [0, 1, 7, 8, 9]
    assert KeepFirst(2)(window, 6) == [0, 1, 7, 8, 9]
    assert KeepFirst(0, 2)(window, 4) == [7, 8, 9]
    assert window == list(range(10))


def test_stop_reads_nothing_further() -> None:
    """Bug: the default policy is another one than stopping."""
    assert stop([0, 1], 2) is None
    run = MODEL.generate([0, 1, 2], 50, truncate=stop)
    assert (len(run), run.finish_reason) == (13, "context")


def test_a_rebuilt_window_costs_its_length() -> None:
    """Bug: a run past the bound claims the cache's low price, though every kept position was read anew."""
    run = MODEL.generate([0, 1, 2], 6, seed=0, context_length=5, truncate=KeepFirst(0), use_cache=True)
    assert [step.context.tolist() for step in run][:2] == [[0, 1, 2], [0, 1, 2, run.token_ids[0]]]
    assert run[2].context.tolist() == [1, 2, *run.token_ids[:2]]
    assert [step.positions_read for step in run[:3]] == [3, 1, 4]


def test_dropping_more_rebuilds_less_often() -> None:
    """Bug: `n_drop` is ignored after the first time."""
    run = MODEL.generate([0, 1, 2], 40, seed=0, context_length=9, truncate=KeepFirst(0, 4), use_cache=True)
    lengths = [len(step.context) for step in run]
    assert lengths == [3, 4, 5, 6, 7, 8] + [5, 6, 7, 8] * 8 + [5, 6]


def test_a_long_prompt_is_cut_at_once() -> None:
    """Bug: a prompt past the bound is refused or dropped from a token a step, though a policy is given."""
    prompt = [0, 1, 2, 3, 4, 5, 6] * 5
    run = MODEL.generate(prompt, 2, truncate=KeepFirst(3))
    assert run[0].context.tolist() == prompt[:3] + prompt[-12:]
    assert run.prompt.tolist() == prompt
    assert len(run[1].context) == 15


def test_the_end_token_still_ends_a_truncated_run() -> None:
    """Bug: an end token in the window, or one dropped from it, counts for a selected one."""
    run = MODEL.generate([6] * 20, 500, seed=0, end_id=6, truncate=KeepFirst(0))
    assert run.finish_reason == "stop"
    assert run.token_ids.index(6) == len(run) - 1


@pytest.mark.parametrize(("n_first", "n_drop"), [(4, 1), (3, 2), (0, 5), (9, 9)])
def test_a_policy_that_leaves_no_room_says_so(n_first: int, n_drop: int) -> None:
    """Bug: nothing is kept, or the same window is read for ever."""
    with pytest.raises(ValueError, match=rf"n_first is {n_first} and n_drop is {n_drop}.*below.* 5"):
        MODEL.generate([0, 1], 9, context_length=5, truncate=KeepFirst(n_first, n_drop))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-1,), "n_first is -1"),
        ((True,), "n_first is True"),
        ((1.0,), "n_first is 1.0"),
        ((0, 0), "n_drop is 0"),
        ((0, None), "n_drop is None"),
    ],
    ids=repr,
)
def test_an_illegal_policy_is_refused(arguments: tuple[int, ...], message: str) -> None:
    """Bug: a negative count cuts from the wrong end."""
    with pytest.raises(ValueError, match=message):
        KeepFirst(*arguments)


def test_a_policy_of_ones_own() -> None:
    """Bug: only the shipped policies work, or the policy is asked before the window is full."""
    asked: list[tuple[list[int], int]] = []

    def keep_last_two(window: list[int], context_length: int) -> list[int]:
        asked.append((list(window), context_length))
        return window[-2:]

    run = MODEL.generate([0, 1, 2], 6, context_length=5, truncate=keep_last_two)
    assert [len(step.context) for step in run] == [3, 4, 2, 3, 4, 2]
    assert [(len(window), bound) for window, bound in asked] == [(5, 5), (5, 5)]


def test_a_policy_may_stop_later() -> None:
    """Bug: None counts only from the shipped `stop`."""
    run = MODEL.generate([0], 9, context_length=3, truncate=lambda window, bound: None)
    assert (len(run), run.finish_reason) == (2, "context")


@pytest.mark.parametrize(
    "returned", [[], [0] * 5, [0] * 9, [7], [-1], [0.5], "the cat", 3, np.zeros((2, 2), dtype=int)], ids=repr
)
@pytest.mark.parametrize("use_cache", [False, True])
def test_a_bad_window_names_the_policy(returned: object, use_cache: bool) -> None:
    """Bug: a window that is empty, full or not ids fails later, or reads past the bound unseen."""
    with pytest.raises(ValueError, match="truncate"):
        MODEL.generate(
            [0, 1, 2],
            6,
            context_length=5,
            truncate=lambda window, bound: returned,  # type: ignore[arg-type, return-value]
            use_cache=use_cache,
        )


def test_drop_oldest_is_a_policy_as_stop_is() -> None:
    """Bug: `truncate=drop_oldest` needs brackets where `stop` needs none, and fails only when full."""
    run = MODEL.generate([0, 1, 2], 30, seed=3, truncate=drop_oldest)
    assert len(run) == 30
    assert run.token_ids == MODEL.generate([0, 1, 2], 30, seed=3, truncate=KeepFirst(0)).token_ids
