"""Several sequences at once: each as if it were alone."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from fake_models import RecordingModel, ScriptedModel, emit
from hypothesis import given, settings
from hypothesis import strategies as st

from decoder_lib import CausalLanguageModel, ContextOverflowError, generate, generate_batch

MODEL = CausalLanguageModel(n_vocab=7, seed=0)
PROMPTS = [[0, 1, 2], [5], [6, 6], [3, 4, 3, 4, 3, 4, 3, 4, 3, 4, 3, 4], [2] * 16]


def ending_after(counts: dict[int, int], context_length: int = 64) -> ScriptedModel:
    """Row b starts with the token b and selects its own b until it selects the end token 9."""
    return ScriptedModel(
        lambda prefix: emit(9 if len(prefix) == counts.get(prefix[0]) else prefix[0], 10), 10, context_length
    )


def test_greedy_rows_equal_their_solo_runs() -> None:
    """Bug: a row reads padding, or another row's prefix."""
    batch = generate_batch(MODEL, PROMPTS, 10, end_id=6, greedy=True)
    solo = [MODEL.generate(prompt, 10, end_id=6, greedy=True) for prompt in PROMPTS]
    assert batch.continuations == [run.token_ids for run in solo]
    assert batch.finish_reasons == [run.finish_reason for run in solo]
    assert batch.lengths.tolist() == [len(run) for run in solo]


@pytest.mark.parametrize("controls", [{}, {"temperature": 0.6, "top_k": 4, "top_p": 0.9}], ids=str)
def test_sampled_rows_equal_their_solo_runs(controls: dict[str, float]) -> None:
    """Bug: rows share a generator, or a control reaches the single run only."""
    seeds = [4, 0, 11, 4, 2]
    batch = generate_batch(MODEL, PROMPTS, 10, end_id=6, seeds=seeds, **controls)  # type: ignore[arg-type]
    solo = [
        MODEL.generate(prompt, 10, end_id=6, seed=seed, **controls)  # type: ignore[arg-type]
        for prompt, seed in zip(PROMPTS, seeds, strict=True)
    ]
    assert batch.continuations == [run.token_ids for run in solo]
    assert batch.finish_reasons == [run.finish_reason for run in solo]


def test_shared_arguments_have_the_same_defaults() -> None:
    """Bug: what is left out means one thing for a single sequence and another for a batch."""
    single = inspect.signature(generate).parameters
    batch = inspect.signature(generate_batch).parameters
    assert set(single) - set(batch) == {"prompt", "seed", "truncate"}
    assert set(batch) - set(single) == {"prompts", "seeds"}
    assert batch["seeds"].default == single["seed"].default
    for name in set(batch) & set(single):
        assert (batch[name].default, batch[name].kind) == (single[name].default, single[name].kind)


def test_seeds_left_out_are_those_of_solo_runs() -> None:
    """Bug: a batch without seeds is greedy, or differs from one call to the next."""
    batch = generate_batch(MODEL, PROMPTS, 10, end_id=6)
    assert batch.continuations == [MODEL.generate(prompt, 10, end_id=6).token_ids for prompt in PROMPTS]


def test_seeds_of_none_are_fresh_entropy_for_each() -> None:
    """Bug: None is greedy selection, one seed for all sequences, or the same at each call."""
    model = ScriptedModel(lambda prefix: [0.0, 0.0], 2, context_length=200)
    drawn = [generate_batch(model, [[0], [0]], 99, seeds=seeds).continuations for seeds in (None, [None] * 2)]
    assert len({tuple(tokens) for batch in drawn for tokens in batch}) == 4


def test_greedy_selection_uses_no_seed() -> None:
    """Bug: a generator that is given along with `greedy` moves on, or decides a token."""
    rng = np.random.default_rng(3)
    batch = generate_batch(MODEL, [[0], [1]], 5, seeds=[rng, rng], greedy=True)
    assert batch.continuations == generate_batch(MODEL, [[0], [1]], 5, greedy=True).continuations
    assert rng.random() == np.random.default_rng(3).random()


@pytest.mark.parametrize("use_cache", [False, True])
@pytest.mark.parametrize("context_length", [1, 3, 12, 16])
def test_a_context_bound_is_that_of_solo_runs(context_length: int, use_cache: bool) -> None:
    """Bug: the model's own context is the bound, or a cache has less room than the bound."""
    prompts = [prompt for prompt in PROMPTS if len(prompt) <= context_length]
    settings = {"context_length": context_length, "use_cache": use_cache}
    batch = generate_batch(MODEL, prompts, 20, **settings)  # type: ignore[arg-type]
    solo = [MODEL.generate(prompt, 20, **settings) for prompt in prompts]  # type: ignore[arg-type]
    assert batch.continuations == [run.token_ids for run in solo]
    assert batch.finish_reasons == [run.finish_reason for run in solo]
    with pytest.raises(ContextOverflowError, match=rf"prompts\[0\] has 17 tokens.*bound is {context_length}"):
        generate_batch(MODEL, [[0] * 17], 1, **settings)  # type: ignore[arg-type]


@settings(deadline=None, derandomize=True, max_examples=25)
@given(order=st.permutations(range(5)), kept=st.integers(1, 5))
def test_mates_change_nothing(order: list[int], kept: int) -> None:
    """Bug: dropping or reordering the other rows changes a row's draws."""
    whole = generate_batch(MODEL, PROMPTS, 8, end_id=6, seeds=range(5))
    rows = order[:kept]
    part = generate_batch(MODEL, [PROMPTS[b] for b in rows], 8, end_id=6, seeds=rows)
    assert part.continuations == [whole.continuations[b] for b in rows]
    assert part.finish_reasons == [whole.finish_reasons[b] for b in rows]


def test_a_row_may_have_a_generator_of_its_own() -> None:
    """Bug: a generator is re-seeded or copied, so that it does not go on after the batch."""
    rngs = [np.random.default_rng(seed) for seed in (1, 2)]
    batch = generate_batch(MODEL, [[0], [1]], 5, seeds=rngs)
    assert batch.continuations == generate_batch(MODEL, [[0], [1]], 5, seeds=[1, 2]).continuations
    assert [rng.random() for rng in rngs] == [np.random.default_rng(seed).random(6)[-1] for seed in (1, 2)]


def test_one_generator_for_all_rows_ties_them_together() -> None:
    """Bug: a shared generator is copied a row, so that the trap that the course shows is no trap."""
    rng, uniforms = np.random.default_rng(3), np.random.default_rng(3).random(8)
    model = ScriptedModel(lambda prefix: [0.0, 0.0], 2)
    together = generate_batch(model, [[0], [0]], 4, seeds=[rng, rng])
    draws = (uniforms >= 0.5).astype(int)
    assert together.continuations == [draws[::2].tolist(), draws[1::2].tolist()]


def test_finished_rows_are_not_handed_over_again() -> None:
    """Bug: a finished row is fed on and its tokens thrown away, or it resumes."""
    model = ending_after({1: 1, 3: 3})
    batch = generate_batch(model, [[1], [3], [0]], 5, end_id=9)
    assert batch.continuations == [[9], [3, 3, 9], [0] * 5]
    assert model.rounds == [
        [[1], [3], [0]],
        [[3, 3], [0, 0]],
        [[3, 3, 3], [0, 0, 0]],
        [[0] * 4],
        [[0] * 5],
    ]
    assert not model.passes


def test_the_mask_of_each_round() -> None:
    """Bug: one mask is stored many times, is a round late, or is undone by a later token."""
    batch = generate_batch(ending_after({1: 1, 3: 3}), [[1], [3], [0]], 5, end_id=9)
    assert batch.finished_by_round.astype(int).tolist() == [
        [1, 0, 0],
        [1, 0, 0],
        [1, 1, 0],
        [1, 1, 0],
        [1, 1, 0],
    ]
    assert batch.finished.tolist() == [True, True, False]
    assert (batch.finished.dtype, batch.finished_by_round.dtype) == (np.bool_, np.bool_)


def test_lengths_and_reasons_tell_finished_from_truncated() -> None:
    """Bug: a row at its budget is marked finished, or an end token at the last step is not."""
    batch = generate_batch(ending_after({1: 5}), [[1], [0]], 5, end_id=9)
    assert batch.lengths.tolist() == [5, 5]
    assert batch.lengths.dtype == np.int64
    assert batch.finished.tolist() == [True, False]
    assert batch.finish_reasons == ["stop", "length"]


def test_the_loop_ends_with_its_last_row() -> None:
    """Bug: rounds go on for nobody, with an empty batch."""
    model = ending_after({1: 1, 2: 2})
    batch = generate_batch(model, [[1], [2]], 50, end_id=9)
    assert len(model.rounds) == len(batch.finished_by_round) == 2


def test_a_full_context_ends_its_row_only() -> None:
    """Bug: a row without room stops the others, crashes, or counts as finished."""
    model = ending_after({3: 3}, context_length=4)
    batch = generate_batch(model, [[0, 0, 0], [1], [2, 2, 2, 2], [3]], 9, end_id=9)
    assert batch.continuations == [[0], [1, 1, 1], [], [3, 3, 9]]
    assert batch.finish_reasons == ["context", "context", "context", "stop"]
    assert batch.finished.tolist() == [False, False, False, True]
    assert max(len(prefix) for handed in model.rounds for prefix in handed) == 3


def test_an_end_token_in_a_prompt_stops_nothing() -> None:
    """Bug: rows whose prompt holds the end token are finished from the start."""
    batch = generate_batch(ending_after({}), [[1, 9], [9, 9]], 2, end_id=9)
    assert batch.continuations == [[1, 1], [9]]


def test_an_end_id_of_zero_and_none_at_all() -> None:
    """Bug: id 0 is taken for no end token, or None for some id."""
    model = ScriptedModel(lambda prefix: emit(0, 2), 2)
    assert generate_batch(model, [[1]], 3, end_id=0).continuations == [[0]]
    assert generate_batch(model, [[1]], 3).continuations == [[0, 0, 0]]


@pytest.mark.parametrize("seeds", [None, []])
def test_no_rows(seeds: list[int] | None) -> None:
    """Bug: an empty batch fails, or asks the model about nothing."""
    recording = RecordingModel(MODEL)
    batch = generate_batch(recording, [], 5, end_id=6, seeds=seeds)
    assert (batch.continuations, batch.finish_reasons, recording.batched) == ([], [], 0)
    assert (batch.lengths.shape, batch.finished.shape, batch.finished_by_round.shape) == ((0,), (0,), (0, 0))


def test_one_row() -> None:
    """Bug: an axis is squeezed away."""
    batch = generate_batch(MODEL, [[0, 1, 2]], 5, end_id=6, seeds=[0])
    assert batch.continuations == [MODEL.generate([0, 1, 2], 5, end_id=6, seed=0).token_ids]
    assert batch.finished.shape == batch.lengths.shape == (1,)


def test_no_budget() -> None:
    """Bug: a pass is made for tokens that nobody asked for."""
    recording = RecordingModel(MODEL)
    batch = generate_batch(recording, PROMPTS, 0)
    assert (batch.continuations, recording.batched) == ([[]] * 5, 0)
    assert batch.finish_reasons == ["length"] * 5
    assert batch.finished_by_round.shape == (0, 5)


def test_prompts_are_left_alone() -> None:
    """Bug: continuations are appended to the caller's lists."""
    prompts = [[0, 1], [2]]
    generate_batch(MODEL, prompts, 4)
    assert prompts == [[0, 1], [2]]


@pytest.mark.parametrize(
    ("prompts", "error", "message"),
    [
        ([[0], []], ValueError, r"prompts\[1\] is empty"),
        ([[0], [1, 7]], ValueError, r"prompts\[1\]\[1\] is 7.*0 to 6"),
        ([[0], [0] * 17], ContextOverflowError, r"prompts\[1\] has 17 tokens.*16"),
        ([0, 1], ValueError, r"prompts\[0\] has 0 dimensions"),
    ],
    ids=str,
)
def test_an_illegal_prompt_is_named(prompts: list[list[int]], error: type[Exception], message: str) -> None:
    """Bug: in a batch of many, nothing says which prompt is wrong."""
    with pytest.raises(error, match=message):
        generate_batch(MODEL, prompts, 2)
