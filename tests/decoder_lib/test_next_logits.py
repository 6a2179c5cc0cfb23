"""The batched pass over prefixes of different lengths."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decoder_lib import CausalLanguageModel, ContextOverflowError

assert_close = partial(np.testing.assert_allclose, rtol=1e-9)
MODEL = CausalLanguageModel(n_vocab=7, seed=0)
PREFIXES = st.lists(st.lists(st.integers(0, 6), min_size=1, max_size=16), min_size=1, max_size=6)


@settings(deadline=None, derandomize=True, max_examples=60)
@given(prefixes=PREFIXES)
def test_rows_equal_the_last_rows_of_single_passes(prefixes: list[list[int]]) -> None:
    """Bug: padding is read, or the last padded column is taken for the last token."""
    rows = MODEL.next_logits(prefixes)
    assert rows.shape == (len(prefixes), 7)
    assert rows.dtype == np.float64
    singly = np.array([MODEL.logits(prefix)[-1] for prefix in prefixes])
    assert_close(rows, singly)


def test_no_prefixes_give_no_rows() -> None:
    """Bug: an empty batch fails, or loses the vocabulary's axis."""
    assert MODEL.next_logits([]).shape == (0, 7)


def test_an_array_of_prefixes_is_taken_and_left_alone() -> None:
    """Bug: a rectangle of ids is refused, or written to while it is padded."""
    prefixes = np.array([[0, 1, 2], [3, 4, 5]])
    rows = MODEL.next_logits(prefixes)
    assert rows.shape == (2, 7)
    assert_close(rows[1], MODEL.logits([3, 4, 5])[-1])
    assert prefixes.tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize(
    ("prefixes", "error", "message"),
    [
        ([[0], []], ValueError, r"prefixes\[1\] is empty"),
        ([[0], [1], [2, 7]], ValueError, r"prefixes\[2\]\[1\] is 7"),
        ([0, 1, 2], ValueError, r"prefixes\[0\] has 0 dimensions"),
        ([[0], [1] * 17], ContextOverflowError, r"prefixes\[1\] has 17 tokens.*16"),
    ],
    ids=str,
)
def test_an_error_names_the_prefix(prefixes: list[list[int]], error: type[Exception], message: str) -> None:
    """Bug: in a batch of many, nothing says which prefix is wrong."""
    with pytest.raises(error, match=message):
        MODEL.next_logits(prefixes)
