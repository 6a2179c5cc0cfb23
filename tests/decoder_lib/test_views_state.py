"""The one state, its runs and branches: what views are told of, and that a branch is an honest run."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, replace

import numpy as np
import pytest
from fake_models import emit
from hypothesis import given
from hypothesis import strategies as st
from situations import SITUATIONS, often, scripted

from decoder_lib import CausalLanguageModel, Vocabulary, generate, token_log_probabilities
from decoder_lib.views.runs import branch_of, followed, run_of
from decoder_lib.views.situation import Decoder, Settings, Situation, lesson_decoders, prompt_from
from decoder_lib.views.state import State


@often
@given(SITUATIONS)
def test_a_run_is_the_library_s(situation: Situation) -> None:
    """Bug: a setting is not handed on to the loop, or the end token ends a run though it is off."""
    ours = run_of(situation)
    theirs = generate(
        situation.decoder.model,
        situation.prompt,
        situation.max_new_tokens,
        end_id=6 if situation.end else None,
        seed=situation.seed,
        greedy=situation.greedy,
        temperature=situation.temperature,
        context_length=situation.context_length,
    )
    assert (ours.token_ids, ours.finish_reason) == (theirs.token_ids, theirs.finish_reason)
    assert ours.log_probability == pytest.approx(theirs.log_probability, abs=1e-9)


@often
@given(SITUATIONS, st.integers(0, 11), st.integers(0, 6))
def test_a_branch_is_a_run_of_which_one_token_was_taken(
    settings: Situation, place: int, token_id: int
) -> None:
    """Bug: the branch reads another prefix, scores another policy, or passes a bound."""
    situation = Situation(**{**vars(settings), "branch": (place, token_id)})
    run, branch = run_of(situation), branch_of(situation)
    assert (branch is None) == (place >= len(run))
    if branch is None:
        return
    made = branch.run.token_ids
    assert made[:place] == run.token_ids[:place]
    assert made[place] == token_id
    for number, step in enumerate(branch.run):
        assert step.context.tolist() == [*situation.prompt, *made[:number]]
    expected = token_log_probabilities(
        situation.decoder.model,
        situation.prompt,
        made,
        temperature=1.0 if situation.greedy else situation.temperature,
    )
    assert [step.log_probability for step in branch.run] == pytest.approx(expected.tolist(), abs=1e-9)
    if situation.end and 6 in made:
        assert (branch.run.finish_reason, made.index(6)) == ("stop", len(made) - 1)
    elif len(made) == situation.max_new_tokens:
        assert branch.run.finish_reason == "length"
    else:
        assert branch.run.finish_reason == "context"
        assert len(situation.prompt) + len(made) == situation.context_length


@often
@given(SITUATIONS)
def test_the_run_s_own_token_gives_the_run_again(settings: Situation) -> None:
    """Bug: a branch draws numbers that the run would not have drawn."""
    run = run_of(settings)
    for place, step in enumerate(run):
        branch = branch_of(Situation(**{**vars(settings), "branch": (place, step.token_id)}))
        assert branch is not None
        assert branch.run.token_ids == run.token_ids
        assert branch.run.finish_reason == run.finish_reason
        assert [step.uniform for step in branch.run] == [step.uniform for step in run]


def test_the_followed_run_is_the_branch_only_where_the_reader_follows_it() -> None:
    """Bug: the stepper walks through the run while the branch is shown, or the other way round."""
    state = State(branch=(1, 3))
    branch = branch_of(state.situation)
    assert branch is not None
    assert followed(state.situation) is run_of(state.situation)
    state.change(on_branch=True)
    assert followed(state.situation) is branch.run
    state.change(branch=None)
    assert not state.situation.on_branch
    assert followed(state.situation) is run_of(state.situation)


def test_the_step_stays_within_what_is_followed() -> None:
    """Bug: going back from a longer branch leaves the reader behind the end of the run."""
    decoder = scripted(lambda prefix: emit(2 if prefix[1:] == [0] else 0, 3), "a b end", end_id=2)
    state = State((decoder,), prompt=(1,), greedy=True, max_new_tokens=6)
    assert run_of(state.situation).token_ids == [0, 2]
    state.change(step=1, branch=(0, 1), on_branch=True)
    assert branch_of(state.situation).run.token_ids == [1, 0, 0, 0, 0, 0]
    state.change(step=99)
    assert state.situation.step == 6
    state.change(on_branch=False)
    assert state.situation.step == 2


@often
@given(SITUATIONS, st.integers(0, 11), st.integers(0, 6))
def test_a_branch_computes_what_a_run_with_a_cache_would(
    settings: Situation, place: int, token_id: int
) -> None:
    """Bug: the pass after the taken token is recorded as reading the whole prefix again."""
    branch = branch_of(Situation(**{**vars(settings), "branch": (place, token_id)}))
    if branch is None:
        return
    new = [1] * (len(branch.run) - 1)
    assert [step.positions_read for step in branch.run] == [len(settings.prompt), *new]


def test_another_run_drops_the_branch() -> None:
    """Bug: a branch of the old run is compared with the new one."""
    state = State(branch=(1, 3), on_branch=True, step=2)
    state.change(step=3)
    assert state.situation.branch == (1, 3)
    state.change(seed=7)
    assert (state.situation.branch, state.situation.on_branch, state.situation.step) == (None, False, 3)


def test_what_cannot_be_changes_nothing() -> None:
    """Bug: a refused value leaves half a change behind, or the views are told of it."""
    state = State(step=2)
    before, told = state.situation, []
    state.observe(told.append)
    for fields in ({"seed": 101}, {"prompt": (0,) * 17}, {"step": 1, "temperature": 0.0}, {"on_branch": 1}):
        with pytest.raises(ValueError):  # noqa: PT011 - each names another argument
            state.change(**fields)
    assert state.situation is before
    assert told == []


def test_another_decoder_reads_the_same_words() -> None:
    """Bug: ids are kept over another vocabulary, or the context bound is one that it does not have."""
    words = Vocabulary(("<end>", "cat", "the", "<start>", "bird"))
    other = Decoder("small", CausalLanguageModel(n_vocab=5, context_length=8), words, end_id=0)
    state = State((*lesson_decoders(), other), branch=(0, 6))
    state.choose(other)
    assert state.situation.prompt == (3, 2, 1)
    assert (state.situation.context_length, state.situation.branch) == (8, None)
    state.change(context_length=5)
    state.choose(lesson_decoders()[1])
    assert (state.situation.prompt, state.situation.context_length) == ((0, 1, 2), 5)
    state.change(prompt=(3,))
    with pytest.raises(ValueError, match="'dog' is not among the 5 words"):
        state.choose(other)
    assert state.situation.decoder is lesson_decoders()[1]


def test_a_notebook_may_say_settings_in_words() -> None:
    """Bug: a list of ids fails at the first run for want of a hash, or words are read with other ids."""
    words = Vocabulary(("<end>", "cat", "the", "<start>", "bird"))
    other = Decoder("small", CausalLanguageModel(n_vocab=5, context_length=8), words, end_id=0)
    state = State((*lesson_decoders(), other), decoder="trained", prompt="<start> the dog")
    assert (state.situation.decoder, state.situation.prompt) == (lesson_decoders()[1], (0, 1, 3))
    state.change(decoder="small", prompt="the bird", context_length=8)
    assert (state.situation.decoder, state.situation.prompt) == (other, (2, 4))
    for prompt in ([3, 2], np.array([3, 2])):
        state.change(prompt=prompt)
        assert run_of(state.situation).prompt.tolist() == [3, 2]
        assert state.situation == replace(state.situation, prompt=(3, 2))
    for fields, message in (
        ({"decoder": "large"}, "'large'; .*trained"),
        ({"prompt": "dog"}, "'dog' is not"),
    ):
        with pytest.raises(ValueError, match=message):
            state.change(**fields)


def test_a_decoder_needs_a_word_for_each_id() -> None:
    """Bug: a missing word is found only when it has been selected."""
    with pytest.raises(ValueError, match="2 words; the model has 7 ids"):
        Decoder("short", CausalLanguageModel(n_vocab=7), Vocabulary(("a", "b")))


def test_a_typed_prompt() -> None:
    """Bug: an unknown word is answered with hundreds of known ones, or an empty prompt with a word on ids."""
    words = Vocabulary(tuple(f"w{number}" for number in range(300)))
    assert prompt_from("  w299 w0 ", words) == (299, 0)
    with pytest.raises(ValueError, match=r"'cat' is not among the 300 words .* w9 \.\.\.$"):
        prompt_from("w1 cat", words)
    for text in ("", "  "):
        with pytest.raises(ValueError, match="at least one word"):
            prompt_from(text, words)


def test_a_typed_prompt_is_read_as_its_vocabulary_reads_it() -> None:
    """Bug: a tokenizer's text is split at spaces, and each of its words refused."""

    class Letters(Vocabulary):
        def encode(self, text: str) -> list[int]:
            return [self.id(letter) for letter in text]

    letters = Letters((" ", "a", "b"))
    assert prompt_from("ab ba", letters) == (1, 2, 0, 2, 1)
    with pytest.raises(ValueError, match="'c' is not among the 3 words"):
        prompt_from("a c", letters)


def test_a_decoder_that_is_set_can_be_chosen_again() -> None:
    """Bug: a decoder that is set is on no list, a shipped one has no name, or the bound is lost."""
    words = Vocabulary(("<end>", "cat", "the", "<start>", "bird"))
    other = Decoder("small", CausalLanguageModel(n_vocab=5, context_length=8), words, end_id=0)
    state = State((other,))
    assert state.situation.context_length == 8
    state.change(decoder="trained", prompt="<start> the dog")
    assert state.decoders == (other, lesson_decoders()[1])
    assert state.situation.context_length == 16
    state.change(context_length=6)
    state.change(decoder=other, prompt="<start> the bird")
    assert (state.decoders, state.situation.context_length) == ((other, lesson_decoders()[1]), 6)
    with pytest.raises(ValueError, match="'large'; there are untrained, trained, story, small"):
        state.change(decoder="large")
    with pytest.raises(ValueError, match="seed"):
        state.change(decoder="untrained", seed=-1)
    assert state.decoders == (other, lesson_decoders()[1])


def test_no_setting_is_left_out_of_a_run_s_record() -> None:
    """Bug: two situations with different runs share one record."""
    base = Situation(max_new_tokens=8, end=False)
    others = [
        Situation(max_new_tokens=8, end=False, seed=1),
        Situation(max_new_tokens=8, end=False, greedy=True),
        Situation(max_new_tokens=8, end=False, temperature=2.0),
        Situation(max_new_tokens=7, end=False),
        Situation(max_new_tokens=8, end=False, context_length=6),
        Situation(max_new_tokens=8, end=False, prompt=(0, 1, 3)),
        Situation(max_new_tokens=8, end=False, decoder=lesson_decoders()[1]),
    ]
    distributions = [run_of(base)[-1].distribution, *(run_of(other)[-1].distribution for other in others)]
    lengths = [len(run_of(base)), *(len(run_of(other)) for other in others)]
    seen = {(length, *np.round(row, 12).tolist()) for length, row in zip(lengths, distributions, strict=True)}
    assert len(seen) == len(others) + 1


# What a reader looks at beside the settings: another value for each field, and whether the next run keeps it.
LOOKING = {
    "step": (2, True),
    "branch": ((1, 3), False),
    "on_branch": (True, True),
    "beam_width": (3, True),
    "edit": ((1, 4), False),
    "policy": ("stop", True),
}


def test_every_field_that_is_no_setting_is_tried_here() -> None:
    """Bug: a new field of view state that no test resets."""
    all_fields, settings = ({each.name for each in dataclasses.fields(of)} for of in (Situation, Settings))
    assert all_fields - settings == LOOKING.keys()


@pytest.mark.parametrize("name", LOOKING)
def test_what_a_reader_looks_at_makes_no_other_run(name: str) -> None:
    """Bug: a reset forgets a field, so one run counts as two: once for each policy, say."""
    there = Situation(seed=5)
    here = replace(there, **{name: LOOKING[name][0]})
    assert here != there
    assert here.settings == there.settings
    assert run_of(here) is run_of(there)
    assert here.afresh() == there
    assert here.afresh(name) == here


@pytest.mark.parametrize("name", LOOKING)
def test_what_belongs_to_a_run_goes_with_it(name: str) -> None:
    """Bug: a branch or an edit of the old run is applied to the new one, or another run closes the view."""
    value, stays = LOOKING[name]
    changed = Situation(**{name: value}).changed(seed=5)
    assert changed == Situation(seed=5, **({name: value} if stays else {}))
    assert Situation(**{name: value}).changed(prompt=[0, 1, 2]) == Situation(**{name: value})
    assert Situation().changed(seed=5, **{name: value}) == Situation(seed=5, **{name: value})


def test_a_field_of_tomorrow_is_reset_too() -> None:
    """Bug: somebody adds a field to what a reader looks at, and has to remember each place that resets it."""

    @dataclass(frozen=True)
    class Zoomed(Situation):
        zoom: float = 1.0

    there = Zoomed(seed=5, zoom=2.0)
    assert there.settings == Situation(seed=5).settings
    assert there.afresh() == Zoomed(seed=5)
    assert there.changed(seed=6) == Zoomed(seed=6)
