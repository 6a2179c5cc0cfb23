"""What the generation explorer shows, held against the library's own answers."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from situations import SITUATIONS, often, scripted

from decoder_lib import CausalLanguageModel, Vocabulary, generate
from decoder_lib.views.generation.compute import fields_to_take, finish_in_words, steps_of
from decoder_lib.views.runs import branch_of, followed, largest, run_of
from decoder_lib.views.situation import Decoder, Situation
from decoder_lib.views.state import State

LARGE = Decoder(
    "large",
    CausalLanguageModel(n_vocab=300, seed=1),
    Vocabulary(tuple(f"w{number}" for number in range(300))),
    end_id=299,
)


@often
@given(SITUATIONS, st.integers(0, 12))
def test_the_steps_shown_are_those_of_the_run(settings: Situation, step: int) -> None:
    """Bug: the prefix, the table or the shares are a step ahead or behind."""
    run = run_of(settings)
    step = min(step, len(run))
    shown = steps_of(replace(settings, step=step))
    words = settings.words.tokens
    assert (shown.step, shown.n_steps) == (step, len(run))
    assert shown.prefix == tuple(words[i] for i in [*settings.prompt, *run.token_ids[:step]])
    assert [turn.token for turn in shown.turns] == [words[i] for i in run.token_ids[:step]]
    assert [turn.probability for turn in shown.turns] == [made.probability for made in run[:step]]
    assert [turn.positions for turn in shown.turns] == [len(made.context) for made in run[:step]]
    assert shown.product == pytest.approx(math.prod(made.probability for made in run[:step]), rel=1e-9)
    if step:
        newest = run[step - 1]
        assert [share.share for share in shown.shares] == newest.distribution.tolist()
        assert [share.token_id for share in shown.shares if share.note == "selected"] == [newest.token_id]
        assert (shown.n_left_out, shown.left_out) == (0, 0.0)
    else:
        assert (shown.shares, shown.intervals, shown.uniform) == ((), (), None)
    assert shown.taken is None


@often
@given(SITUATIONS)
def test_the_draw_falls_into_the_interval_of_the_selected_token(settings: Situation) -> None:
    """Bug: the scale is cut in another order, does not reach 1, or the draw points beside the token."""
    run = run_of(settings)
    for step, made in enumerate(run, 1):
        shown = steps_of(replace(settings, step=step))
        assert shown.uniform == made.uniform
        if settings.greedy:
            assert shown.intervals == ()
            assert "no draw" in shown.how
            continue
        assert (shown.intervals[0].start, shown.intervals[-1].end) == (0.0, 1.0)
        assert all(a.end == b.start for a, b in zip(shown.intervals, shown.intervals[1:], strict=False))
        (hit,) = [interval for interval in shown.intervals if interval.hit]
        assert hit.start <= made.uniform < hit.end
        assert hit.name == settings.words.tokens[made.token_id]


@often
@given(SITUATIONS)
def test_positions_with_a_cache_are_those_of_a_cached_run(settings: Situation) -> None:
    """Bug: the count beside the run is a formula's, or counts what the cache held as computed."""
    cached = generate(
        settings.decoder.model,
        settings.prompt,
        settings.max_new_tokens,
        end_id=settings.end_id,
        seed=settings.seed,
        context_length=settings.context_length,
        use_cache=True,
        **settings.selection,
    )
    turns = steps_of(replace(settings, step=len(run_of(settings)))).turns
    assert [turn.positions_with_cache for turn in turns] == [step.positions_read for step in cached]


@often
@given(SITUATIONS, st.integers(0, 11), st.integers(0, 6))
def test_taking_a_token_and_taking_it_back(settings: Situation, place: int, token_id: int) -> None:
    """Bug: the branch starts a step too early or late, or the run's own token makes a branch like the run."""
    run = run_of(settings)
    assume(place < len(run))
    here = replace(settings, step=place + 1)
    there = replace(here, **fields_to_take(here, token_id))
    shown = steps_of(there)
    assert shown.prefix[-1] == settings.words.tokens[token_id]
    assert len(shown.prefix) == len(steps_of(here).prefix)
    if token_id == run[place].token_id:
        assert there == here
    else:
        assert there.branch == (place, token_id)
        assert shown.taken == len(settings.prompt) + place
        notes = {share.token_id: share.note for share in shown.shares if share.note}
        assert notes == {run[place].token_id: "not taken", token_id: "taken instead"}
        assert f"; {settings.words.tokens[token_id]} was taken instead." in shown.how
        assert [share.token_id for share in shown.shares if share.stands] == [token_id]
    assert replace(there, **fields_to_take(there, run[place].token_id)) == here


def test_where_no_token_can_be_taken() -> None:
    """Bug: a token is taken at the prompt, or behind a branch where the run has another prefix."""
    state = State()
    assert not steps_of(state.situation).can_take
    with pytest.raises(ValueError, match="Step forward"):
        fields_to_take(state.situation, 0)
    state.change(step=2)
    state.change(**fields_to_take(state.situation, 5))
    state.forward()
    assert state.situation.on_branch
    assert not steps_of(state.situation).can_take
    with pytest.raises(ValueError, match="Go back to step 2"):
        fields_to_take(state.situation, 0)
    state.change(on_branch=False)
    assert steps_of(state.situation).can_take
    full = Situation(prompt=(0, 1, 2), context_length=3)
    assert "No step was made" in steps_of(full).take


def test_the_branch_s_steps_are_shown_while_it_is_followed() -> None:
    """Bug: the shares after the taken token are those of the run."""
    state = State(step=2, max_new_tokens=6)
    state.change(**fields_to_take(state.situation, 5))
    state.forward()
    on_branch = steps_of(state.situation)
    model = state.situation.decoder.model
    scores = model.logits([*state.situation.prompt, run_of(state.situation)[0].token_id, 5])[-1]
    shares = np.exp(scores - scores.max())
    assert [s.share for s in on_branch.shares] == pytest.approx((shares / shares.sum()).tolist(), rel=1e-9)
    assert [turn.number for turn in on_branch.turns] == [1, 2, 3]
    assert followed(state.situation) is branch_of(state.situation).run


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"max_new_tokens": 3}, "the 3 tokens asked for (length)"),
        ({"max_new_tokens": 1}, "the 1 token asked for (length)"),
        ({"context_length": 4}, "the context of 4 positions (context)"),
        ({"context_length": 3}, "the context of 3 positions (context)"),
    ],
)
def test_bounds_in_words(settings: dict[str, int], words: str) -> None:
    """Bug: the reason named is another bound's."""
    situation = Situation(**settings, end=False, step=len(run_of(Situation(**settings, end=False))))
    assert words in finish_in_words(situation, run_of(situation))
    assert steps_of(situation).finish == f"Finished: {finish_in_words(situation, run_of(situation))}."


def test_the_end_token_in_words() -> None:
    """Bug: a run that the end token ended is said to have used up its budget."""
    seed = next(s for s in range(100) if run_of(Situation(seed=s)).finish_reason == "stop")
    situation = Situation(seed=seed)
    assert "the end token <end> (stop)" in finish_in_words(situation, run_of(situation))
    left = len(run_of(situation))
    assert steps_of(situation).finish == f"Not finished: {left} more step{'s' if left > 1 else ''} to come."


def test_a_large_vocabulary_shows_the_largest_shares_and_the_selected_one() -> None:
    """Bug: the selected token is among those that are not shown, or the rest is not accounted for."""
    found_small = False
    for seed in range(20):
        situation = Situation(LARGE, (3, 4), seed=seed, step=2)
        shown, step = steps_of(situation), run_of(situation)[1]
        ids = [share.token_id for share in shown.shares]
        assert ids[:10] == np.argsort(-step.distribution, kind="stable")[:10].tolist()
        assert step.token_id in ids
        assert len(ids) + shown.n_left_out == 300
        assert shown.left_out == pytest.approx(1.0 - step.distribution[ids].sum())
        assert 1 <= len(shown.intervals) <= 3
        (hit,) = [interval for interval in shown.intervals if interval.hit]
        assert hit.name == f"w{step.token_id}"
        assert hit.start <= step.uniform < hit.end
        found_small |= len(ids) == 11
    assert found_small


def test_the_largest_are_listed_once() -> None:
    """Bug: a selected token that is among the largest is listed twice."""
    shares = np.arange(20) / 190
    assert largest(shares, 19, 3, 3) == [*range(19, 9, -1), 3]
    assert largest(shares[:7], 2) == list(range(7))


def test_a_share_of_zero_can_be_taken() -> None:
    """Bug: a token that the temperature leaves no share breaks the product or the scale."""
    decoder = scripted(lambda prefix: [0.0, -1000.0, -1000.0], "a b c")
    situation = Situation(decoder, (0,), temperature=0.1, max_new_tokens=2, step=1)
    there = replace(situation, **fields_to_take(situation, 2), context_length=16)
    assert steps_of(there).product == 0.0
    assert steps_of(replace(there, step=2)).product == 0.0
