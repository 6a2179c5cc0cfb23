"""The chain rule, and the ranking of all continuations of a length."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from fake_models import RecordingModel, ScriptedModel
from hypothesis import given, settings
from hypothesis import strategies as st

from decoder_lib import (
    CausalLanguageModel,
    Config,
    ContextOverflowError,
    load,
    rank_continuations,
    sequence_log_probability,
    token_log_probabilities,
)
from decoder_lib.parameters import draw_parameters
from decoder_lib.transformer import log_softmax

MODEL = load("lesson")
pytestmark = pytest.mark.filterwarnings("error")


def test_entries_are_conditional_log_probabilities(model: CausalLanguageModel) -> None:
    """Bug: rows are off by one, the prompt's own tokens are scored, or the logarithm is to another base."""
    prompt, continuation = [0, 1, 2], [3, 3, 0, 5]
    scores = token_log_probabilities(model, prompt, continuation)
    expected = [
        log_softmax(model.logits(prompt + continuation[:made])[-1])[token]
        for made, token in enumerate(continuation)
    ]
    assert scores.shape == (4,)
    assert scores.dtype == np.float64
    np.testing.assert_allclose(scores, expected, rtol=1e-9)
    assert sequence_log_probability(model, prompt, continuation) == pytest.approx(sum(expected), rel=1e-9)


def test_temperature_is_the_policy_s(model: CausalLanguageModel) -> None:
    """Bug: the model's own shares are scored though the policy draws from others."""
    expected = log_softmax(model.logits([0, 1])[-1] / 0.5)[4]
    assert sequence_log_probability(model, [0, 1], [4], temperature=0.5) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    "controls",
    [{}, {"greedy": True, "temperature": 0.0}, {"temperature": 0.6, "top_k": 4, "top_p": 0.9}],
    ids=str,
)
@pytest.mark.parametrize("context_length", [None, 6])
def test_a_run_is_scored_with_the_arguments_that_made_it(
    model: CausalLanguageModel, controls: dict[str, Any], context_length: int | None
) -> None:
    """Bug: scoring refuses an argument of `generate`, or means another distribution by it."""
    run = model.generate([0, 1], 5, context_length=context_length, **controls)
    scores = token_log_probabilities(model, [0, 1], run.token_ids, context_length=context_length, **controls)
    np.testing.assert_allclose(scores, [step.log_probability for step in run], rtol=1e-9)
    total = sequence_log_probability(model, [0, 1], run.token_ids, context_length=context_length, **controls)
    assert total == pytest.approx(run.log_probability, rel=1e-9)


def test_what_a_filter_leaves_out_is_impossible(model: CausalLanguageModel) -> None:
    """Bug: a token that the policy can't select gets a probability, a warning or nan."""
    order = np.argsort(model.logits([0, 1])[-1])
    scores = token_log_probabilities(model, [0, 1], [int(order[0]), 2], top_k=3)
    assert scores[0] == -np.inf
    assert sequence_log_probability(model, [0, 1], [int(order[0]), 2], top_k=3) == -np.inf
    assert sequence_log_probability(model, [0, 1], [int(order[-1])], top_k=1) == 0.0


def test_one_pass_scores_them_all(model: CausalLanguageModel) -> None:
    """Bug: a pass a token, or a last token that is read though nothing follows it."""
    recording = RecordingModel(model)
    token_log_probabilities(recording, [0, 1], [2, 3, 4])
    assert recording.passes == [([0, 1, 2, 3], 0)]
    assert recording.batched == 0


def test_the_sequence_may_be_one_longer_than_the_context(model: CausalLanguageModel) -> None:
    """Bug: the last token, which is never read, is counted against the context."""
    assert token_log_probabilities(model, [0] * 10, [1] * 7).shape == (7,)
    with pytest.raises(ContextOverflowError):
        token_log_probabilities(model, [0] * 10, [1] * 8)
    with pytest.raises(ContextOverflowError, match="would fill 5 positions; the context bound is 4"):
        token_log_probabilities(model, [0] * 4, [1] * 2, context_length=4)


def test_no_tokens_have_probability_one(model: CausalLanguageModel) -> None:
    """Bug: an empty continuation fails, or slices the whole table."""
    scores = token_log_probabilities(model, [0, 1], [])
    assert (scores.shape, scores.dtype) == ((0,), np.float64)
    assert sequence_log_probability(model, [0, 1], []) == 0.0


def test_large_logits_stay_finite() -> None:
    """Bug: a share underflows to zero before its logarithm is taken."""
    model = ScriptedModel(lambda prefix: [10_000.0, -10_000.0], 2)
    assert token_log_probabilities(model, [0], [0, 1, 1]).tolist() == [0.0, -20_000.0, -20_000.0]


def test_a_long_run_underflows_and_its_logarithm_does_not() -> None:
    """Bug: probabilities are multiplied and the logarithm taken of the product, which is zero."""
    long = CausalLanguageModel(
        n_vocab=7, context_length=2100, n_layers=1, n_heads=1, d_model=8, seed=0, dtype=np.float64
    )
    run = long.generate([0, 1, 2], 2000, seed=0, use_cache=True)
    assert len(run) == 2000
    assert run.probability == 0.0
    scored = sequence_log_probability(long, [0, 1, 2], run.token_ids)
    assert -20_000 < scored < -750
    assert run.log_probability == pytest.approx(scored, rel=1e-9)


def test_arguments_are_left_alone(model: CausalLanguageModel) -> None:
    """Bug: prompt and continuation are joined in place."""
    prompt, continuation = [0, 1], [2, 3]
    token_log_probabilities(model, prompt, continuation)
    rank_continuations(model, prompt, 2)
    assert (prompt, continuation) == ([0, 1], [2, 3])


@pytest.mark.parametrize("length", [0, 1, 2, 3])
def test_ranking_holds_every_continuation_once(model: CausalLanguageModel, length: int) -> None:
    """Bug: a continuation is missing or paired with another's score."""
    ids, scores = rank_continuations(model, [0, 1, 2], length)
    assert ids.shape == (7**length, length)
    assert ids.dtype == np.int64
    assert scores.shape == (7**length,)
    assert set(map(tuple, ids.tolist())) == set(itertools.product(range(7), repeat=length))
    assert np.exp(scores).sum() == pytest.approx(1.0, rel=1e-12)
    assert (np.diff(scores) <= 0).all()
    singly = [sequence_log_probability(model, [0, 1, 2], row) for row in ids]
    np.testing.assert_allclose(scores, singly, rtol=1e-9, atol=1e-12)


def test_ties_stand_in_the_order_of_their_ids() -> None:
    """Bug: an unstable sort shuffles equals, so that ranks differ from machine to machine."""
    config = Config(n_vocab=3)
    parameters = {name: np.zeros_like(value) for name, value in draw_parameters(config, 0).items()}
    ids, _ = rank_continuations(CausalLanguageModel.from_parameters(parameters, config), [0], 3)
    assert ids.tolist() == [list(row) for row in itertools.product(range(3), repeat=3)]


def test_the_prompt_and_each_prefix_of_the_tree_are_read_once(model: CausalLanguageModel) -> None:
    """Bug: a pass a continuation, 2,401 of them, where a pass a prefix is enough; or the prompt in each."""
    recording = RecordingModel(model)
    rank_continuations(recording, [0, 1, 2], 4)
    assert recording.passes == []
    assert recording.rounds[0] == [[0, 1, 2]]
    assert [len(batch) for batch in recording.rounds[1:]] == [7, 49, 343]
    assert {len(fed) for batch in recording.rounds[1:] for fed in batch} == {1}


@settings(deadline=None, derandomize=True, max_examples=30)
@given(prompt=st.lists(st.integers(0, 6), min_size=1, max_size=14), length=st.integers(1, 3))
def test_reading_the_prompt_once_changes_no_score(prompt: list[int], length: int) -> None:
    """Bug: a continuation reads another's tokens, or its own at other positions than behind the prompt."""
    ids, scores = rank_continuations(MODEL, prompt, length)
    whole = MODEL.next_logits([[*prompt, *row[:made]] for row in ids for made in range(length)])
    shares = log_softmax(whole).reshape(len(ids), length, 7)
    anew = np.take_along_axis(shares, ids[:, :, None], axis=2).sum(axis=(1, 2))
    np.testing.assert_allclose(scores, anew, rtol=0, atol=1e-12)


@pytest.mark.parametrize("length", [8, 100, 6000, 10**6])
def test_too_many_continuations_are_refused_at_once(model: CausalLanguageModel, length: int) -> None:
    """Bug: memory runs out, or the message itself fails on a number of thousands of digits."""
    with pytest.raises(ValueError, match=rf"length is {length}; .*1,000,000"):
        rank_continuations(model, [0], length)


def test_a_ranking_past_the_context_is_refused(model: CausalLanguageModel) -> None:
    """Bug: the tree is walked to the context's end before the error, which names an inner prefix."""
    assert len(rank_continuations(model, [0] * 15, 2)[0]) == 49
    recording = RecordingModel(model)
    with pytest.raises(ContextOverflowError, match="length is 3"):
        rank_continuations(recording, [0] * 15, 3)
    assert recording.batched == 0
