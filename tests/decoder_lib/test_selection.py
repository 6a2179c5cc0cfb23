"""The selection rule: softmax, temperature, filters, draws, ties."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decoder_lib import Selection
from decoder_lib.selection import draw
from decoder_lib.transformer import log_softmax, softmax

pytestmark = pytest.mark.filterwarnings("error")
often = settings(deadline=None, derandomize=True, max_examples=100)
ROWS = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=12).map(np.array)
MILD_ROWS = st.lists(st.floats(-8, 8), min_size=1, max_size=12).map(np.array)
CONTROLS = st.fixed_dictionaries(
    {"temperature": st.floats(0.05, 20)},
    optional={"top_k": st.integers(1, 14), "top_p": st.floats(0.01, 1)},
)


def shares(logits: Any, **controls: Any) -> np.ndarray:
    return np.exp(Selection(**controls).log_distribution(np.asarray(logits)))


@pytest.mark.parametrize("size", [1e6, -1e6, 1e300])
def test_softmax_is_stable_at_any_size(size: float) -> None:
    """Bug: `exp` of a large score overflows, or all shares of small ones vanish."""
    assert softmax(np.array([size, size])).tolist() == [0.5, 0.5]
    assert log_softmax(np.array([size, size])) == pytest.approx([np.log(0.5)] * 2, rel=1e-15)


def test_logarithm_stays_finite_where_the_share_vanishes() -> None:
    """Bug: the logarithm is taken of a share that has underflowed to zero."""
    logits = np.array([0.0, -10_000.0])
    assert softmax(logits).tolist() == [1.0, 0.0]
    assert log_softmax(logits).tolist() == [0.0, -10_000.0]


def test_minus_infinity_has_no_share() -> None:
    """Bug: a score of minus infinity gives nan, or a small share."""
    assert softmax(np.array([-np.inf, 1.0, 1.0])).tolist() == [0.0, 0.5, 0.5]
    assert log_softmax(np.array([-np.inf, 3.0])).tolist() == [-np.inf, 0.0]
    assert shares([-np.inf, 1.0, 1.0], temperature=0.5, top_k=3, top_p=1.0).tolist() == [0.0, 0.5, 0.5]


def test_softmax_works_row_by_row_and_leaves_its_argument() -> None:
    """Bug: shares are normalised over the whole table, or the scores are overwritten."""
    scores = np.array([[0.0, 0.0], [5.0, 5.0]])
    assert softmax(scores).tolist() == [[0.5, 0.5], [0.5, 0.5]]
    assert scores.tolist() == [[0.0, 0.0], [5.0, 5.0]]


@often
@given(logits=ROWS, shift=st.sampled_from([-1e6, -1.0, 1e6]))
def test_a_constant_added_to_every_logit_changes_nothing(logits: np.ndarray, shift: float) -> None:
    """Bug: the largest score is not taken off, so the answer hangs on the scores' level."""
    np.testing.assert_allclose(shares(logits + shift), shares(logits), rtol=1e-8, atol=1e-12)


@often
@given(logits=MILD_ROWS, controls=CONTROLS)
def test_a_distribution_sums_to_one(logits: np.ndarray, controls: dict[str, Any]) -> None:
    """Bug: what a filter removes is not made up for by the rest."""
    distribution = shares(logits, **controls)
    assert distribution.shape == logits.shape
    assert distribution.dtype == np.float64
    assert distribution.sum() == pytest.approx(1.0, rel=1e-12)


@often
@given(logits=MILD_ROWS, controls=CONTROLS, seed=st.integers(0, 2**32))
def test_a_draw_is_that_of_rng_choice(logits: np.ndarray, controls: dict[str, Any], seed: int) -> None:
    """Bug: another number of uniforms, or tokens in another order, so that no seed's run is the lesson's."""
    selection = Selection(**controls)
    log_distribution = selection.log_distribution(logits)
    probabilities = np.exp(log_distribution)
    ours, theirs = np.random.default_rng(seed), np.random.default_rng(seed)
    for _ in range(20):
        token_id, uniform = selection.select(log_distribution, ours)
        assert token_id == theirs.choice(len(logits), p=probabilities)
        assert draw(probabilities, uniform) == token_id
    assert ours.bit_generator.state == theirs.bit_generator.state


def test_a_draw_never_gives_a_token_without_a_share() -> None:
    """Bug: a uniform on the edge of an interval, 0.0 above all, falls to a token of probability zero."""
    probabilities = np.array([0.0, 0.5, 0.0, 0.5, 0.0])
    drawn = [draw(probabilities, uniform) for uniform in (0.0, 0.25, 0.5, 1.0 - 2.0**-53)]
    assert drawn == [1, 1, 3, 3]


def test_a_draw_never_leaves_the_vocabulary() -> None:
    """Bug: ten tenths add up to a little less than 1, and the largest uniform falls behind the last token."""
    assert np.cumsum([0.1] * 10)[-1] < 1.0
    assert draw(np.full(10, 0.1), 1.0 - 2.0**-53) == 9


@pytest.mark.parametrize("temperature", [0.25, 0.5, 1.0, 3.0])
def test_temperature_divides_the_logits(temperature: float) -> None:
    """Bug: logits are multiplied by it, or the shares are divided."""
    logits = np.array([1.0, -2.0, 0.5])
    expected = np.exp(logits / temperature) / np.exp(logits / temperature).sum()
    np.testing.assert_allclose(shares(logits, temperature=temperature), expected, rtol=1e-13)


@pytest.mark.parametrize("temperature", [5e-324, 1e-300, 1e-8])
def test_the_coldest_temperatures_share_between_the_ties(temperature: float) -> None:
    """Bug: dividing by a tiny number overflows to infinity, and infinity less infinity is nan."""
    distribution = shares([1e6, -1e6, 0.0, 1e6], temperature=temperature, top_k=4, top_p=1.0)
    assert distribution.tolist() == [0.5, 0.0, 0.0, 0.5]


@pytest.mark.parametrize("temperature", [1e12, 1e300, np.finfo(float).max, 10**300])
def test_the_hottest_temperatures_flatten(temperature: float) -> None:
    """Bug: an extreme temperature warns or underflows to nan."""
    np.testing.assert_allclose(shares([1e3, -1e3, 0.0, 7.0], temperature=temperature), 0.25, rtol=1e-8)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.longdouble, np.int64, int])
def test_any_real_scalar_is_a_temperature(kind: type) -> None:
    """Bug: the scalar's own precision spreads to the distribution."""
    distribution = Selection(temperature=kind(2)).log_distribution(np.array([0.0, 1.0]))
    assert distribution.dtype == np.float64
    np.testing.assert_array_equal(distribution, Selection(temperature=2.0).log_distribution([0.0, 1.0]))


@pytest.mark.parametrize(
    ("top_k", "kept"), [(1, [1]), (2, [1, 3]), (3, [0, 1, 3]), (4, [0, 1, 2, 3]), (99, [0, 1, 2, 3])]
)
def test_top_k_keeps_k_and_prefers_the_lower_id(top_k: int, kept: list[int]) -> None:
    """Bug: a tie at the edge keeps more than k tokens, or the higher id."""
    distribution = shares([1.0, 2.0, 1.0, 2.0], top_k=top_k)
    assert np.flatnonzero(distribution).tolist() == kept


def test_filters_prefer_the_lower_id_of_many_ties() -> None:
    """Bug: the sort is stable for a handful of tokens and not for a real vocabulary."""
    logits = np.array([0.0, 0.25, 0.5, 0.75, 1.0])[np.random.default_rng(0).integers(5, size=1000)]
    ties = np.flatnonzero(logits == 1.0).tolist()
    assert np.flatnonzero(shares(logits, top_k=5)).tolist() == ties[:5]
    assert np.flatnonzero(shares(logits, top_p=4.5 * shares(logits).max())).tolist() == ties[:5]


@pytest.mark.parametrize(
    ("probabilities", "top_p", "kept"),
    [
        ([0.5, 0.25, 0.125, 0.125], 0.5, 1),
        ([0.5, 0.25, 0.125, 0.125], 0.500001, 2),
        ([0.5, 0.25, 0.125, 0.125], 0.75, 2),
        ([0.5, 0.25, 0.125, 0.125], 0.875, 3),
        ([0.5, 0.25, 0.125, 0.125], 0.876, 4),
        ([0.4, 0.3, 0.2, 0.1], 0.4, 1),
        ([0.4, 0.3, 0.2, 0.1], 0.7, 2),
        ([0.4, 0.3, 0.2, 0.1], 0.9, 3),
        ([0.1] * 10, 0.8, 8),
        ([0.25] * 4, 0.5, 2),
        ([0.4, 0.3, 0.2, 0.1], 1.0, 4),
        ([0.4, 0.3, 0.2, 0.1], 1e-300, 1),
    ],
    ids=str,
)
def test_top_p_keeps_the_smallest_set_that_reaches_it(
    probabilities: list[float], top_p: float, kept: int
) -> None:
    """Bug: a set whose share is exactly p is taken for too small, by the rule or by a rounding error."""
    distribution = shares(np.log(probabilities), top_p=top_p)
    assert np.flatnonzero(distribution).tolist() == list(range(kept))
    expected = np.array(probabilities[:kept]) / sum(probabilities[:kept])
    np.testing.assert_allclose(distribution[:kept], expected, rtol=1e-12)


def test_top_p_of_one_keeps_every_token() -> None:
    """Bug: tokens too rare to move a running sum are dropped, though 1 means no filter."""
    logits = np.array([0.0, -50.0, -60.0])
    np.testing.assert_array_equal(shares(logits, top_p=1.0), shares(logits))


@often
@given(logits=MILD_ROWS, top_p=st.floats(0.01, 0.99))
def test_top_p_keeps_a_head_of_the_order_and_no_more_than_needed(logits: np.ndarray, top_p: float) -> None:
    """Bug: a less probable token is kept in place of a more probable one, or one too many is kept."""
    before, after = shares(logits), shares(logits, top_p=top_p)
    kept = after > 0
    assert before[kept].sum() >= top_p - 1e-9
    assert before[kept].sum() - before[kept].min() < top_p + 1e-9
    assert before[kept].min() >= before[~kept].max(initial=0.0)


def test_top_p_looks_at_what_top_k_leaves() -> None:
    """Bug: top-p is measured on the shares before top-k, and keeps a token too many."""
    distribution = shares(np.log([0.4, 0.3, 0.2, 0.1]), top_k=2, top_p=0.55)
    assert distribution == pytest.approx([1.0, 0.0, 0.0, 0.0], rel=1e-12)


def test_filters_look_at_the_shares_after_temperature() -> None:
    """Bug: top-p is measured on the shares before temperature."""
    logits = np.log([0.4, 0.3, 0.2, 0.1])
    assert np.count_nonzero(shares(logits, temperature=0.1, top_p=0.9)) == 1
    assert np.count_nonzero(shares(logits, temperature=100.0, top_p=0.9)) == 4


@often
@given(table=st.lists(st.lists(st.floats(-8, 8), min_size=5, max_size=5), min_size=1, max_size=4))
def test_rows_are_independent(table: list[list[float]]) -> None:
    """Bug: a filter's order or sum runs over the batch and not along each row."""
    selection = Selection(temperature=0.7, top_k=4, top_p=0.8)
    together = selection.log_distribution(np.array(table))
    np.testing.assert_allclose(together, [selection.log_distribution(np.array(row)) for row in table])


def test_greedy_ignores_the_other_controls() -> None:
    """Bug: a filter or a temperature changes a greedy run's probabilities, or is refused for its value."""
    logits = np.array([0.3, 0.9, -2.0])
    greedy = Selection(greedy=True, temperature=-1.0, top_k=0, top_p=7.0)
    np.testing.assert_array_equal(greedy.log_distribution(logits), log_softmax(logits))


def test_greedy_takes_the_lowest_id_of_a_tie_and_draws_nothing() -> None:
    """Bug: the last of equal shares is taken, or the generator moves."""
    rng = np.random.default_rng(0)
    before = rng.bit_generator.state
    selection = Selection(greedy=True)
    assert selection.select(selection.log_distribution(np.array([0.0, 3.0, 3.0])), rng) == (1, None)
    assert rng.bit_generator.state == before


def test_logits_are_left_alone() -> None:
    """Bug: the row is shifted, divided or masked in place."""
    logits = np.array([1.0, 2.0, 3.0])
    Selection(temperature=0.5, top_k=2, top_p=0.5).log_distribution(logits)
    assert logits.tolist() == [1.0, 2.0, 3.0]
