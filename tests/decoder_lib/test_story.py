"""The story model: what is shipped, what it has learned, and that the views show it."""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from views import control, page, press, told

from decoder_lib import LESSON_VOCABULARY, STORY_VOCABULARY, Config, load, token_log_probabilities
from decoder_lib import widgets as live
from decoder_lib.parameters import DATA
from decoder_lib.views.runs import run_of
from decoder_lib.views.situation import lesson_decoders, story_decoder
from decoder_lib.views.state import State
from decoder_lib.views.view import View
from parameters.story_grammar import Story, stories

MODEL = load("story")
END = STORY_VOCABULARY.id("<end>")
THE_CAT = "<start> the cat sat on the"
README = Path(__file__).parents[2] / "parameters" / "README.md"


def shares(prompt: str) -> dict[str, float]:
    """The share of each word after a prompt."""
    (step,) = MODEL.generate(STORY_VOCABULARY.encode(prompt), 1, greedy=True)
    return dict(zip(STORY_VOCABULARY.tokens, step.distribution, strict=True))


def continued(prompt: str, **how: object) -> tuple[str, str]:
    """A run to the end token or to the end of the context: its words, and how it ended."""
    ids = STORY_VOCABULARY.encode(prompt)
    run = MODEL.generate(ids, MODEL.context_length, end_id=END, use_cache=True, **how)
    return STORY_VOCABULARY.decode(run.token_ids), run.finish_reason


# What is shipped


def test_words_and_shape_agree() -> None:
    """Bug: the parameters and the words were written by different runs of the script."""
    assert MODEL.config == Config(len(STORY_VOCABULARY), 64, 3, 4, 48)
    assert 200 <= len(STORY_VOCABULARY) <= 400


def test_ids_of_the_lesson_s_words() -> None:
    """Bug: the lesson's prompt, given as ids, is another sentence to the story model."""
    assert STORY_VOCABULARY.tokens[:6] == LESSON_VOCABULARY.tokens[:6]
    assert STORY_VOCABULARY.tokens[-1] == LESSON_VOCABULARY.tokens[-1] == "<end>"


def test_the_files_are_small() -> None:
    """Bug: float64 values, or an optimizer's state, are shipped too."""
    assert (DATA / "story.npz").stat().st_size < 500_000
    assert (DATA / "story.txt").stat().st_size < 5_000


def test_the_grammar_has_no_other_words() -> None:
    """Bug: the grammar got a word that the shipped vocabulary does not know, or the other way round."""
    words = {word for story in islice(stories(2), 10_000) for word in story.text.split()}
    assert words <= set(STORY_VOCABULARY.tokens)
    assert len(STORY_VOCABULARY) - 2 - len(words) < 5  # rare ones may be missing in so few stories


# What it has learned


def reported(name: str) -> float:
    """A loss that the account of the parameters reports, in nats a token."""
    section = README.read_text(encoding="utf-8").split("## The story model")[1]
    return float(re.search(rf"^\| {name} \| ([\d.]+) \|", section, re.MULTILINE)[1])


def loss(story: Story) -> tuple[float, int]:
    """The summed loss of one story in nats, and its number of predicted tokens."""
    ids = STORY_VOCABULARY.encode(f"{story.text} <end>")
    return -token_log_probabilities(MODEL, [0], ids).sum(), len(ids)


def test_the_held_out_loss_is_the_reported_one() -> None:
    """Bug: the shipped parameters are not those whose loss is reported, or the grammar is another one."""
    fresh = [story for story in islice(stories(1), 8_000) if story.held_out]
    total, predicted = np.sum([loss(story) for story in fresh], axis=0)
    own = -sum(story.log_probability for story in fresh) / predicted
    found = total / predicted
    # Which stories were drawn moves both losses alike, so that their difference is known more closely.
    assert found - own == pytest.approx(reported("decoder") - reported("the grammar itself"), abs=0.006)
    assert found == pytest.approx(reported("decoder"), abs=0.03)
    assert found < 0.6 * reported("bigram")


def test_a_sentence_goes_on_as_expected() -> None:
    """Bug: the shipped decoder is not trained, or its words are in another order than at training."""
    after = shares(THE_CAT)
    assert sum(after[place] for place in ("mat", "floor", "bed", "sofa", "chair", "rug")) > 0.95
    assert continued(THE_CAT, greedy=True) == ("mat . <end>", "stop")


def test_what_stands_far_back_is_remembered() -> None:
    """Bug: attention sees only the nearest words."""
    for who, she, her in (("girl", "she", "her"), ("king", "he", "his")):
        for thing in ("key", "hat"):
            story = f"<start> a {who} lost {her} {thing} . {she} looked in the box . it was not there ."
            after = shares(story)
            assert after[she] > 0.9
            after = shares(f"{story} {she} looked on the shelf . it was there . the {who} took the")
            assert after[thing] > 0.8


def test_where_stories_end() -> None:
    """Bug: the end token is not learned, or comes after every full stop, or within sentences."""
    assert shares(f"{THE_CAT} mat")["<end>"] < 0.001
    assert 0.2 < shares(f"{THE_CAT} mat .")["<end>"] < 0.8
    assert shares("<start> there was an old cat . it was hungry .")["<end>"] < 0.01
    assert (
        shares("<start> the cow walked and walked . then it was tired . it slept in the barn .")["<end>"]
        > 0.95
    )


def test_sampled_stories_end() -> None:
    """Bug: sampled stories run into the context's end, or end within a sentence."""
    runs = [continued("<start>", seed=seed) for seed in range(50)]
    ended = [text for text, how in runs if how == "stop"]
    assert len(ended) >= 45
    assert sum(text.endswith(" . <end>") for text in ended) >= len(ended) - 1
    assert len(set(ended)) > 40


def test_greedy_selection_goes_round_where_sampling_does_not() -> None:
    """Bug: the example of a greedy loop is none any more."""
    text, how = continued("<start> the dog ran", greedy=True)
    assert how == "context"
    assert set(text.split()) == {"and", "ran"}
    assert all(continued("<start> the dog ran", seed=seed)[1] == "stop" for seed in range(20))


def test_the_cache_and_the_mask() -> None:
    """Bug: with four heads a cached pass differs, or a row depends on what comes later."""
    ids = STORY_VOCABULARY.encode(
        "<start> a boy had a red ball . he threw the ball . his dog brought it back ."
    )
    whole = MODEL.logits(ids)
    cache = MODEL.new_cache()
    pieces = [MODEL.logits(ids[a:b], cache=cache) for a, b in ((0, 7), (7, 8), (8, len(ids)))]
    np.testing.assert_allclose(np.concatenate(pieces), whole, atol=1e-9)
    other = [*ids[:-3], *STORY_VOCABULARY.encode("cat cat cat")]
    np.testing.assert_allclose(MODEL.logits(other)[:-3], whole[:-3], atol=1e-9)
    assert abs(MODEL.logits(other)[-1] - whole[-1]).max() > 1


# In the live views


def parameters_of(view: View) -> list[str]:
    return [name for name, _ in control(view, "Parameters").options]


def test_a_view_can_be_asked_for_the_story_model() -> None:
    """Bug: the name is unknown, the context bound is the lesson's, or the lesson's decoders are gone."""
    view = live.generation_explorer(decoder="story", prompt=THE_CAT, greedy=True)
    assert view.state.situation.decoder is story_decoder()
    assert view.state.situation.context_length == 64
    assert STORY_VOCABULARY.decode(run_of(view.state.situation).token_ids) == "mat . <end>"
    assert parameters_of(view) == ["untrained", "trained", "story"]
    assert control(view, "Context bound").max == 64
    assert control(view, "<end> ends the run").value


def test_the_lesson_s_views_are_as_they_were() -> None:
    """Bug: every view lists the story model, and loads it."""
    assert State().decoders == lesson_decoders()
    assert parameters_of(live.generation_explorer()) == ["untrained", "trained"]


def test_every_view_shows_it() -> None:
    """Bug: a view takes for granted that the vocabulary is the lesson's."""
    state = State(decoder="story", prompt=THE_CAT, step=2, edit=(2, STORY_VOCABULARY.id("dog")))
    for make in (
        live.generation_explorer,
        live.chain_rule_view,
        live.cache_view,
        live.batch_view,
        live.search_view,
        live.window_view,
    ):
        assert "cat" in str(page(make(state)))


def test_from_the_lesson_s_decoder_to_the_story_model_and_back() -> None:
    """Bug: a view that stands already can't show another decoder, or the prompt's words are not kept."""
    view = live.generation_explorer(prompt="<start> the dog")
    view.state.change(decoder="story")
    assert parameters_of(view) == ["untrained", "trained", "story"]
    assert control(view, "Parameters").value is story_decoder()
    assert (control(view, "Prompt").value, control(view, "Context bound").value) == ("<start> the dog", 64)
    control(view, "Parameters").value = lesson_decoders()[1]
    assert (control(view, "Prompt").value, control(view, "Context bound").value) == ("<start> the dog", 16)
    control(view, "Parameters").value = story_decoder()
    control(view, "Prompt").value = "<start> the owl"
    press(view, "Forward")
    control(view, "Parameters").value = lesson_decoders()[0]
    assert "'owl' is not among the 7 words" in told(view)
    assert view.state.situation.decoder is story_decoder()
    control(view, "Prompt").value = "<start> the unicorn"
    refusal = f"is not among the {len(STORY_VOCABULARY)} words of the vocabulary: <start> the cat dog sat"
    assert f"{refusal} slept . a afraid after ..." in told(view)
