"""A run with a cache, and an edit under it, against the library's own answers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from situations import SITUATIONS, often

from decoder_lib import CausalLanguageModel, StaleCacheError, Vocabulary, generate
from decoder_lib.views.cache.compute import CachedRun, Edit, cached_run_of
from decoder_lib.views.runs import MOST_SHARES, branch_of, run_of
from decoder_lib.views.situation import Decoder, Situation, lesson_decoders

UNTRAINED, TRAINED = lesson_decoders()


@st.composite
def situations(draw: st.DrawFn) -> Situation:
    """Runs of all kinds, stepped into, with some token of the prefix edited."""
    start = draw(SITUATIONS)
    step = draw(st.integers(0, len(run_of(start))))
    edit = (draw(st.integers(0, len(start.prompt) + step - 1)), draw(st.integers(0, 6)))
    return replace(start, step=step, edit=edit)


def options(situation: Situation) -> dict:
    return {
        "end_id": situation.end_id,
        "context_length": situation.context_length,
        **situation.selection,
    }


def edit_of(situation: Situation) -> Edit:
    edit = cached_run_of(situation).edit
    assert edit is not None
    return edit


@often
@given(situations())
def test_the_passes_are_those_of_a_run_with_a_cache(situation: Situation) -> None:
    """Bug: the grid shows what ought to be computed and not what the library computes."""
    shown = cached_run_of(situation)
    run = generate(
        situation.decoder.model,
        situation.prompt,
        situation.max_new_tokens,
        seed=situation.seed,
        use_cache=True,
        **options(situation),
    )
    assert [made.computed for made in shown.passes] == [step.positions_read for step in run]
    assert [list(made.context) for made in shown.passes] == [step.context.tolist() for step in run]
    assert list(shown.prefix) == [*situation.prompt, *run.token_ids[: situation.step]]
    assert shown.positions == len(situation.prompt) + len(run)
    assert shown.with_cache == sum(step.positions_read for step in run[: situation.step])
    assert shown.without_cache == sum(len(step.context) for step in run[: situation.step])


def test_a_followed_branch_is_what_the_cache_reads() -> None:
    """Bug: the grid goes on with the run while the reader follows a branch, or reads the branch anew."""
    situation = Situation(branch=(1, 5), on_branch=True, step=4)
    branch = branch_of(situation)
    assert branch is not None
    shown = cached_run_of(situation)
    assert shown.prefix == (0, 1, 2, *branch.run.token_ids[:4])
    assert [made.computed for made in shown.passes] == [3] + [1] * (len(branch.run) - 1)


@often
@given(situations())
def test_the_right_answer_is_that_of_a_pass_over_the_edited_prefix(situation: Situation) -> None:
    """Bug: the right distribution is read from a cache that the edit spoilt, or with another draw."""
    shown = cached_run_of(situation)
    assert situation.edit is not None
    position, token_id = situation.edit
    if shown.prefix[position] == token_id:
        assert shown.edit is None
        return
    edit = edit_of(situation)
    edited = [*shown.prefix[:position], token_id, *shown.prefix[position + 1 :]]
    assert list(edit.after) == edited
    assert edit.position == position
    generator = np.random.default_rng(situation.seed)
    if not situation.greedy:
        generator.random(situation.step)
    model = situation.decoder.model
    if len(edited) < model.context_length:
        step = generate(model, edited, 1, seed=generator, **situation.selection)[0]
        assert edit.right.shares == pytest.approx(step.distribution, abs=1e-9)
        assert edit.right.token_id == step.token_id


@often
@given(situations())
def test_what_stays_can_be_read_on_from_and_what_falls_can_not(situation: Situation) -> None:
    """Bug: an entry is said to stay that has seen the edited token, or to fall though it has not."""
    shown = cached_run_of(situation)
    if shown.edit is None:
        return
    edit, model = shown.edit, situation.decoder.model
    assert edit.held == (len(shown.prefix) - 1 if situation.step else 0)
    assert list(edit.fallen) == list(range(edit.position, edit.held))
    assert list(edit.fed) == list(range(edit.kept, len(edit.after)))
    cache = model.new_cache()
    if edit.held:
        model.logits(edit.before[: edit.held], cache=cache)
    cache.crop(edit.kept)
    row = model.logits(edit.after[edit.kept :], cache=cache, prefix=edit.after[: edit.kept])[-1]
    assert row == pytest.approx(model.logits(edit.after)[-1], abs=1e-9)


@often
@given(situations())
def test_the_stale_answer_comes_from_the_old_cache(situation: Situation) -> None:
    """Bug: the wrong distribution is made up: a stale cache answers for the text before the edit."""
    shown = cached_run_of(situation)
    if shown.edit is None:
        return
    edit, model = shown.edit, situation.decoder.model
    if not edit.fallen:
        assert edit.stale is None
        return
    assert edit.stale is not None
    cache = model.new_cache()
    model.logits(edit.before[:-1], cache=cache)
    with pytest.raises(StaleCacheError):
        model.logits(edit.after[-1:], cache=cache, prefix=edit.after[:-1])
    scores = model.logits(edit.after[-1:], cache=cache)[-1]
    scores = scores / (1.0 if situation.greedy else situation.temperature)
    shares = np.exp(scores - scores.max())
    assert edit.stale.shares == pytest.approx(shares / shares.sum(), abs=1e-9)
    scores = model.logits(edit.before)[-1] / (1.0 if situation.greedy else situation.temperature)
    shares = np.exp(scores - scores.max())
    assert edit.stale.shares == pytest.approx(shares / shares.sum(), abs=1e-9)
    errors = np.abs(np.array(edit.stale.shares) - edit.right.shares)
    assert edit.largest_error == pytest.approx(errors.max())


def test_a_stale_cache_answers_for_the_text_before_the_edit() -> None:
    """Bug: the two answers are exchanged: after the dog the trained twin expects the cat."""
    there = Situation(decoder=TRAINED, prompt=(0, 1, 2, 4), greedy=True, branch=(0, 1), on_branch=True)
    edited = replace(there, step=1, edit=(2, 3))
    edit = edit_of(edited)
    assert edit.after == (0, 1, 3, 4, 1)
    assert edit.stale is not None
    words = TRAINED.words
    assert words.tokens[edit.right.token_id] == "cat"
    assert words.tokens[edit.stale.token_id] == "dog"
    said = cached_run_of(edited).sentence(words)
    assert "Position 2 is now dog and not cat." in said
    assert "Of 4 entries 2 fall; the next pass computes 3 positions." in said
    assert "The stale cache would select dog; the right answer is cat." in said
    later = cached_run_of(replace(edited, edit=(3, 5))).sentence(words)
    assert "Of 4 entries 1 falls; the next pass computes 2 positions." in later


@pytest.mark.parametrize(
    "situation",
    [Situation(step=2, edit=(4, 5)), Situation(step=0, edit=(1, 5))],
    ids=["newest", "before the first pass"],
)
def test_nothing_falls_that_was_not_held(situation: Situation) -> None:
    """Bug: a token that no pass has read yet is said to make the cache stale."""
    edit = edit_of(situation)
    assert edit.stale is None
    assert list(edit.fallen) == []
    assert "No entry falls" in cached_run_of(situation).sentence(UNTRAINED.words)


def test_an_edit_needs_another_token_of_the_prefix() -> None:
    """Bug: a token put in its own place, or one that was not selected yet, counts as an edit."""
    assert cached_run_of(Situation(step=2, edit=(2, 2))).edit is None
    assert cached_run_of(Situation(step=2, edit=(5, 2))).edit is None


def test_a_step_outside_the_run_is_its_end() -> None:
    """Bug: more passes are counted than there are."""
    shown = cached_run_of(Situation(step=40))
    assert shown.shown == len(shown.passes) == 5
    assert "Pass 5" in shown.sentence(UNTRAINED.words)


def test_the_sentence_counts() -> None:
    """Bug: the counts with a cache and without are exchanged, or those of the whole run."""

    def said(step: int) -> str:
        shown: CachedRun = cached_run_of(Situation(step=step))
        return shown.sentence(UNTRAINED.words)

    assert "3 positions" in said(0)
    assert "Pass 1 computed 3 positions and took 0 from the cache." in said(1)
    assert "Pass 3 computed 1 position and took 4 from the cache." in said(3)
    assert "So far 5 with the cache, 12 without." in said(3)


def test_of_a_large_vocabulary_the_largest_shares_and_the_selected_are_shown() -> None:
    """Bug: hundreds of bars, or the selected token is not among those shown."""
    words = Vocabulary(tuple(f"w{i}" for i in range(300)))
    decoder = Decoder("large", CausalLanguageModel(n_vocab=300, seed=1), words)
    edit = edit_of(Situation(decoder=decoder, step=3, seed=4, edit=(0, 200)))
    assert edit.stale is not None
    assert {edit.right.token_id, edit.stale.token_id} <= set(edit.shown)
    largest = sorted(range(300), key=lambda i: -edit.right.shares[i])[:MOST_SHARES]
    assert set(largest) <= set(edit.shown)
    assert len(edit.shown) <= MOST_SHARES + 2
    assert list(edit.shown) == sorted(edit.shown)
