"""The scripted models: as strict as a real decoder, and nothing beyond the contract's names."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course.checks.models import MOST_CALLS, HistoryScript, ScheduleScript, Script, ScriptedModel, TableScript
from decoder_lib.errors import ContextOverflowError
from decoder_lib.model import CausalLanguageModel

REFUSED: list[tuple[Any, type[Exception]]] = [
    ([], ValueError),
    ([7], ValueError),
    ([-1], ValueError),
    ([1.0], ValueError),
    ([[1, 2]], ValueError),
    ("12", ValueError),
    ([0] * 17, ContextOverflowError),
]


@pytest.mark.parametrize(("token_ids", "error"), REFUSED)
def test_refuses_what_a_decoder_refuses(token_ids: Any, error: type[Exception]) -> None:
    """For a scripted model that is more lenient, or stricter, than the real one."""
    for model in (CausalLanguageModel(n_vocab=7), ScriptedModel(HistoryScript(7, 0), 16)):
        with pytest.raises(error) as caught:
            model.logits(token_ids)
        assert type(caught.value) is error


@pytest.mark.parametrize(
    "token_ids", [[1, 2, 3], (1, 2, 3), np.array([1, 2, 3]), [np.int64(1), 2, np.int8(3)]]
)
def test_accepts_every_form_of_token_ids(token_ids: Any) -> None:
    """For a right solution that hands over a list, a tuple or an array."""
    model = ScriptedModel(HistoryScript(7, 0), 16)
    logits = model.logits(token_ids)
    assert logits.shape == (3, 7)
    assert logits.dtype == np.float64
    assert model.calls[0].token_ids == (1, 2, 3)


@pytest.mark.parametrize("name", ["generate", "config", "parameters", "forward", "new_cache"])
def test_offers_no_other_name(name: str) -> None:
    """For a solution that hands its work to the library."""
    model: Any = ScriptedModel(HistoryScript(7, 0), 16)
    assert not hasattr(model, name)
    with pytest.raises(AttributeError, match=f"no `{name}`: only the names in the challenge may be called"):
        getattr(model, name)


@given(st.integers(3, 12), st.integers(0, 2**31), st.data())
def test_every_row_favours_another_token(n_vocab: int, seed: int, data: st.DataObject) -> None:
    """For a loop that reads a wrong row and is right by chance."""
    token = st.integers(0, n_vocab - 1)
    prefix = tuple(data.draw(st.lists(token, min_size=2, max_size=n_vocab)))
    favourites = HistoryScript(n_vocab, seed).rows(prefix).argmax(axis=1)
    assert len(set(favourites.tolist())) == len(prefix)


def test_depends_on_the_whole_history() -> None:
    """For a stale or shortened prefix that changes nothing: order, length and every token must count."""
    script = HistoryScript(6, 1)
    prefixes = [(0,), (0, 0), (0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (5, 0, 1)]
    assert len({tuple(script.rows(prefix)[-1]) for prefix in prefixes}) == len(prefixes)


def test_rows_are_causal() -> None:
    """For a history model whose earlier rows change as the prefix grows, unlike those of a causal decoder."""
    script = HistoryScript(6, 1)
    np.testing.assert_array_equal(script.rows((3, 1, 4, 1))[:3], script.rows((3, 1, 4)))


@pytest.mark.parametrize(
    "script",
    [HistoryScript(4, 0), TableScript({(0, 1): [0, 1, 2, 3]}, np.zeros(4)), ScheduleScript({}, np.zeros(4))],
)
def test_logits_are_the_callers_to_change(script: Script) -> None:
    """For in-place work on the logits that changes what the model says next."""
    model = ScriptedModel(script, 8)
    first = model.logits([0, 1])
    kept = first.copy()
    first += 5.0
    np.testing.assert_array_equal(model.logits([0, 1]), kept)


def test_table() -> None:
    """For a table that answers for a prefix it does not hold."""
    rows = TableScript({(0, 1): [0.0, 2.0], (0,): [3.0, 0.0]}, [5.0, 5.0]).rows((0, 1, 1))
    assert rows.tolist() == [[3.0, 0.0], [0.0, 2.0], [5.0, 5.0]]


def test_schedule() -> None:
    """For a schedule whose rows disagree, so that a check of counts punishes a wrong row as well."""
    rows = ScheduleScript({2: [0.0, 2.0]}, [1.0, 0.0]).rows((0, 1))
    assert rows.tolist() == [[0.0, 2.0], [0.0, 2.0]]
    assert ScheduleScript({2: [0.0, 2.0]}, [1.0, 0.0]).rows((0,)).tolist() == [[1.0, 0.0]]


def test_refused_calls_are_recorded_and_copies_share_the_record() -> None:
    """For a diagnosis that cannot see the call it is about."""
    model = ScriptedModel(HistoryScript(4, 0), 8)
    with pytest.raises(ValueError, match="9"):
        copy.deepcopy(model).logits([1, 9])
    assert [call.token_ids for call in model.calls] == [(1, 9)]


def test_endless_loop_ends() -> None:
    """For a loop without a bound, which no context stops where only the last token is read."""
    model = ScriptedModel(ScheduleScript({}, np.zeros(2)), 8)
    for _ in range(MOST_CALLS):
        model.logits([0])
    with pytest.raises(RuntimeError, match="does not end"):
        model.logits([0])
