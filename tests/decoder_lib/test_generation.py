"""The loop: what it selects, when it stops, what it reads, and what it leaves behind."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from fake_models import RecordingModel, ScriptedModel, emit

from decoder_lib import CausalLanguageModel, ContextOverflowError, generate, sequence_log_probability
from decoder_lib.transformer import log_softmax

CONTROLS: list[dict[str, Any]] = [
    {},
    {"temperature": 0.5},
    {"temperature": 2.0, "top_k": 3},
    {"top_p": 0.6},
    {"temperature": 1.3, "top_k": 5, "top_p": 0.8},
]


def counting(first_end: int | None = None, context_length: int = 16) -> ScriptedModel:
    """Selects 1, 2, 3, ... after a prefix of as many tokens; the end token 0 after `first_end` of them."""
    return ScriptedModel(
        lambda prefix: emit(0 if len(prefix) == first_end else len(prefix) % 20, 20), 20, context_length
    )


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.5])
@pytest.mark.parametrize("seed", range(5))
def test_sampling_equals_the_plain_loop(model: CausalLanguageModel, seed: int, temperature: float) -> None:
    """Bug: the wrong row, a second draw a step, a re-seeded generator, or a prefix that lags behind."""
    rng, prefix = np.random.default_rng(seed), [0, 1, 2]
    while len(prefix) < 15:
        scores = np.exp(model.logits(prefix)[-1] / temperature)
        prefix.append(int(rng.choice(7, p=scores / scores.sum())))
    run = model.generate([0, 1, 2], 12, seed=seed, temperature=temperature)
    assert run.token_ids == prefix[3:]
    assert [step.context.tolist() for step in run] == [prefix[:end] for end in range(3, 15)]


def test_greedy_equals_the_plain_loop(model: CausalLanguageModel) -> None:
    """Bug: another row than the last, or another order of select and append."""
    prefix = [5]
    for _ in range(10):
        prefix.append(int(np.argmax(model.logits(prefix)[-1])))
    assert model.generate([5], 10, greedy=True).token_ids == prefix[1:]


@pytest.mark.parametrize("budget", [0, 1, 7])
def test_length_bound(budget: int) -> None:
    """Bug: one token too many or too few, or a pass after the last."""
    model = counting()
    run = generate(model, [9], budget, greedy=True)
    assert run.token_ids == list(range(1, budget + 1))
    assert run.finish_reason == "length"
    assert len(model.passes) == len(run) == budget


@pytest.mark.parametrize("end_at", [1, 3, 5])
def test_end_token_is_kept_and_ends_the_run(end_at: int) -> None:
    """Bug: id 0 is taken for "no end token", the end is dropped, or "length" wins at the last step."""
    model = counting(first_end=end_at)
    run = generate(model, [9], 5, end_id=0, greedy=True)
    assert run.token_ids == [*range(1, end_at), 0]
    assert run.finish_reason == "stop"
    assert len(model.passes) == end_at


def test_an_end_token_that_fills_the_context_stops() -> None:
    """Bug: "context" is reported though the last token was the end token."""
    run = generate(counting(first_end=3, context_length=4), [9], 9, end_id=0, greedy=True)
    assert (run.token_ids, run.finish_reason) == ([1, 2, 0], "stop")


def test_an_end_token_in_the_prompt_stops_nothing() -> None:
    """Bug: the prefix and not the selection is searched for the end token."""
    run = generate(counting(), [0, 0, 0], 4, end_id=0, greedy=True)
    assert (run.token_ids, run.finish_reason) == ([3, 4, 5, 6], "length")


def test_without_an_end_id_nothing_stops() -> None:
    """Bug: None is taken for an id, or some id ends the run by default."""
    run = generate(counting(first_end=2), [9], 4, greedy=True)
    assert (run.token_ids, run.finish_reason) == ([1, 0, 3, 4], "length")


@pytest.mark.parametrize(
    ("prompt_length", "budget", "made", "reason"),
    [
        (5, 3, 0, "context"),
        (5, 0, 0, "length"),
        (4, 3, 1, "context"),
        (4, 1, 1, "length"),
        (3, 2, 2, "length"),
        (1, 9, 4, "context"),
    ],
)
@pytest.mark.parametrize("bounded_by", ["model", "argument"])
def test_context_bound(bounded_by: str, prompt_length: int, budget: int, made: int, reason: str) -> None:
    """Bug: "context" is tested before "length", or the bound is off by one."""
    model = counting(context_length=5 if bounded_by == "model" else 16)
    context_length = None if bounded_by == "model" else 5
    run = generate(model, [9] * prompt_length, budget, greedy=True, context_length=context_length)
    assert (len(run), run.finish_reason) == (made, reason)
    assert len(model.passes) == made


def test_a_prompt_longer_than_the_context_is_refused(model: CausalLanguageModel) -> None:
    """Bug: the prompt is cut silently, or fails deep inside the pass without a word on the prompt."""
    with pytest.raises(ContextOverflowError, match=r"prompt has 17 tokens.*16"):
        model.generate([0] * 17, 1)
    with pytest.raises(ContextOverflowError, match=r"prompt has 6 tokens.*5"):
        model.generate([0] * 6, 1, context_length=5)


def test_each_pass_reads_the_prefix_before_it_plus_the_selected_token(model: CausalLanguageModel) -> None:
    """Bug: a pass after the last token, two passes a token, or a prefix that skips one."""
    recording = RecordingModel(model)
    run = generate(recording, [0, 1, 2], 5)
    prefix = [0, 1, 2, *run.token_ids]
    assert recording.passes == [(prefix[:end], 0) for end in range(3, 8)]
    assert [step.positions_read for step in run] == [3, 4, 5, 6, 7]
    assert run.positions_read == 25


def test_with_a_cache_each_position_is_fed_once(model: CausalLanguageModel) -> None:
    """Bug: the prefix is fed again beside the cache, or the last selected token is fed for nothing."""
    recording = RecordingModel(model)
    run = generate(recording, [0, 1, 2], 5, use_cache=True)
    tokens = run.token_ids
    assert recording.passes == [([0, 1, 2], 0), *(([tokens[made]], 3 + made) for made in range(4))]
    assert [step.positions_read for step in run] == [3, 1, 1, 1, 1]
    assert run.positions_read == 7


@pytest.mark.parametrize("controls", [*CONTROLS, {"greedy": True}], ids=str)
def test_a_cache_changes_no_token(model: CausalLanguageModel, controls: dict[str, Any]) -> None:
    """Bug: the cached run differs from the plain one in tokens, contexts or probabilities."""
    for seed in range(10):
        plain = model.generate([3, 0], 14, seed=seed, end_id=6, **controls)
        cached = model.generate([3, 0], 14, seed=seed, end_id=6, use_cache=True, **controls)
        assert cached.token_ids == plain.token_ids
        assert cached.finish_reason == plain.finish_reason
        assert cached.log_probability == pytest.approx(plain.log_probability, rel=1e-9)
        for ours, theirs in zip(cached, plain, strict=True):
            assert ours.context.tolist() == theirs.context.tolist()


def test_the_prompt_is_left_alone(model: CausalLanguageModel) -> None:
    """Bug: the loop appends to the caller's list, or keeps the caller's array and sees it change."""
    as_list, as_array = [0, 1, 2], np.array([0, 1, 2])
    runs = [
        model.generate(prompt, 4, use_cache=cached)
        for prompt in (as_list, as_array)
        for cached in (False, True)
    ]
    assert as_list == [0, 1, 2]
    assert as_array.tolist() == [0, 1, 2]
    assert len({tuple(run.token_ids) for run in runs}) == 1
    as_array[:] = 6
    assert runs[2].prompt.tolist() == [0, 1, 2]
    assert runs[2][0].context.tolist() == [0, 1, 2]


def test_the_same_seed_gives_the_same_run(model: CausalLanguageModel) -> None:
    """Bug: state survives between runs, or the seed is not what decides."""
    runs = [model.generate([0, 1], 10, seed=seed).token_ids for seed in (3, 3, np.int64(3), 4)]
    assert runs[0] == runs[1] == runs[2] != runs[3]
    assert model.generate([0, 1], 10).token_ids == model.generate([0, 1], 10, seed=0).token_ids


def test_a_generator_goes_on_between_calls(model: CausalLanguageModel) -> None:
    """Bug: a generator is copied or re-seeded, so that every call repeats the first one's draws."""
    rng, uniforms = np.random.default_rng(8), np.random.default_rng(8).random(8)
    first = model.generate([0], 4, seed=rng)
    second = model.generate([0], 4, seed=rng)
    assert [step.uniform for step in (*first, *second)] == uniforms.tolist()


def test_the_global_generator_is_not_used(model: CausalLanguageModel) -> None:
    """Bug: draws come from NumPy's global state, or disturb it."""
    before = np.random.get_state()[1].tolist()  # noqa: NPY002
    model.generate([0], 5)
    model.generate([0], 5, seed=None)
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002


def test_no_seed_takes_fresh_entropy(model: CausalLanguageModel) -> None:
    """Bug: None means seed 0, so that every run "without a seed" is the same."""
    assert len({tuple(model.generate([0], 15, seed=None).token_ids) for _ in range(4)}) > 1


def test_greedy_leaves_a_generator_where_it_is(model: CausalLanguageModel) -> None:
    """Bug: a greedy run consumes draws and shifts the sampled run after it."""
    rng = np.random.default_rng(0)
    run = model.generate([0], 5, greedy=True, seed=rng)
    assert [step.uniform for step in run] == [None] * 5
    assert rng.random() == np.random.default_rng(0).random()


def test_a_step_knows_its_distribution(model: CausalLanguageModel) -> None:
    """Bug: a step's distribution is of another row, or its probability of another token."""
    for step in model.generate([0, 1, 2], 6, temperature=0.7):
        expected = log_softmax(model.logits(step.context)[-1] / 0.7)
        np.testing.assert_allclose(step.log_distribution, expected, rtol=1e-12)
        np.testing.assert_allclose(step.distribution, np.exp(expected), rtol=1e-12)
        assert step.distribution.sum() == pytest.approx(1.0)
        assert step.probability == pytest.approx(np.exp(expected[step.token_id]), rel=1e-12)
        assert step.context.dtype == np.int64
        assert type(step.token_id) is int


@pytest.mark.parametrize("controls", CONTROLS, ids=str)
def test_a_run_s_probability_is_that_of_its_policy(
    model: CausalLanguageModel, controls: dict[str, Any]
) -> None:
    """Bug: the run multiplies the model's own shares and not those it drew from, or skips a factor."""
    for seed in range(5):
        run = model.generate([0, 1], 9, seed=seed, **controls)
        scored = sequence_log_probability(model, [0, 1], run.token_ids, **controls)
        assert math.isfinite(scored)
        assert run.log_probability == pytest.approx(scored, rel=1e-12)
        assert run.probability == pytest.approx(math.prod(step.probability for step in run), rel=1e-12)


def test_an_empty_run(model: CausalLanguageModel) -> None:
    """Bug: the product of no factors is not 1."""
    run = model.generate([0, 1], 0)
    assert (len(run), list(run), run.token_ids) == (0, [], [])
    assert (run.probability, run.log_probability, run.positions_read) == (1.0, 0.0, 0)


def test_a_run_is_a_sequence_of_steps(model: CausalLanguageModel) -> None:
    """Bug: indices, slices or iteration disagree with the order of the steps."""
    run = model.generate([0, 1], 5)
    steps = list(run)
    assert len(run) == len(steps) == 5
    assert [run[place] for place in range(5)] == steps
    assert run[-1] is steps[-1]
    assert list(run[1:4]) == steps[1:4]
    assert steps[2] in run
    with pytest.raises(IndexError):
        run[5]


def test_records_can_not_be_changed(model: CausalLanguageModel) -> None:
    """Bug: a notebook cell that writes into a record rewrites what a later cell shows."""
    run = model.generate([0, 1], 3)
    step = run[0]
    for record, name in ((run, "finish_reason"), (step, "token_id")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(record, name, 0)
    with pytest.raises(TypeError):
        run.steps[0] = step  # type: ignore[index]
    for array in (step.context, step.log_distribution, step.distribution, run.prompt):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_a_run_shows_what_it_made(model: CausalLanguageModel) -> None:
    """Bug: a run at the end of a cell prints every array of every step."""
    run = model.generate([0, 1], 3)
    assert repr(run).startswith(f"Generation(token_ids={run.token_ids}, finish_reason='length'")
    assert len(repr(run)) < 120


def test_the_method_is_the_function(model: CausalLanguageModel) -> None:
    """Bug: an argument or a default is changed in one of the two, or dropped on its way to the other."""
    assert model.generate.__func__ is generate  # type: ignore[attr-defined]
    assert model.generate.__self__ is model  # type: ignore[attr-defined]
