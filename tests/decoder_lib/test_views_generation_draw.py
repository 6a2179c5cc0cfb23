"""The generation explorer as an object: its controls, what it draws, and what it says."""

from __future__ import annotations

import ipywidgets as widgets
import matplotlib.pyplot as plt
import pytest
from views import body, chips, control, page, parts, press, said, text, told

from decoder_lib import CausalLanguageModel, Vocabulary
from decoder_lib.views.generation.compute import steps_of
from decoder_lib.views.generation.draw import generation_explorer
from decoder_lib.views.runs import branch_of, followed, run_of
from decoder_lib.views.situation import Decoder, lesson_decoders
from decoder_lib.views.state import State
from decoder_lib.views.view import View

pytestmark = pytest.mark.usefixtures("no_screen")


def prefix(view: View) -> list[str]:
    return [token for token, _ in chips(view)]


def strips(view: View) -> list[str]:
    """The words that stand for the strips of draws."""
    return [strip["aria-label"] for strip in page(view).select('.strip[role="img"]')]


def test_stepping_forward_back_and_to_either_end() -> None:
    """Bug: a button moves the wrong way or past an end, or the drawing lags behind."""
    view = generation_explorer()
    run = run_of(view.state.situation)
    for step in (1, 2, 3, 4, 5, 5):
        press(view, "Forward")
        assert view.state.situation.step == control(view, "Step").value == step
        assert len(prefix(view)) == 3 + step
        assert prefix(view)[-1] == view.state.situation.words.tokens[run[step - 1].token_id]
        assert f"step {step} of 5" in said(view)
    assert "Finished: it has made the 5 tokens asked for (length)." in said(view)
    press(view, "Back")
    assert view.state.situation.step == 4
    press(view, "Start", "Back")
    assert view.state.situation.step == 0
    assert "No pass has been made yet" in text(view)
    press(view, "End")
    assert view.state.situation.step == 5
    control(view, "Step").value = 2
    assert len(prefix(view)) == 5


def test_every_setting_reaches_the_run_and_follows_it() -> None:
    """Bug: a control sets another field, or does not show what something else has set."""
    state = State()
    view = generation_explorer(state)
    values = {
        "Prompt": ("the dog", "prompt", (1, 3)),
        "Parameters": (lesson_decoders()[1], "decoder", lesson_decoders()[1]),
        "Seed": (7, "seed", 7),
        "Temperature": (0.5, "temperature", 0.5),
        "New tokens": (9, "max_new_tokens", 9),
        "Context bound": (8, "context_length", 8),
        "<end> ends the run": (False, "end", False),
        "Selection": (True, "greedy", True),
    }
    for description, (value, field, expected) in values.items():
        control(view, description).value = value
        assert getattr(state.situation, field) == expected
    state.change(prompt=(2,), seed=1, temperature=2.0, max_new_tokens=3, context_length=9, end=True)
    state.change(greedy=False, decoder=lesson_decoders()[0])
    shown = {description: control(view, description).value for description in values}
    assert shown == {
        "Prompt": "cat",
        "Parameters": lesson_decoders()[0],
        "Seed": 1,
        "Temperature": 2.0,
        "New tokens": 3,
        "Context bound": 9,
        "<end> ends the run": True,
        "Selection": False,
    }


def test_a_control_that_follows_sets_nothing() -> None:
    """Bug: a field that cannot show a value, or whose bounds move first, sets the nearest one it can show."""
    words = Vocabulary(("the", "cat"))
    small = Decoder("small", CausalLanguageModel(n_vocab=2, context_length=8), words)
    state = State((*lesson_decoders(), small))
    generation_explorer(state)
    state.change(temperature=5.0)
    assert state.situation.temperature == 5.0
    state.change(decoder=small, prompt=(0,), context_length=3)
    assert state.situation.context_length == 3


def test_greedy_switches_off_what_has_no_effect() -> None:
    """Bug: a reader turns the seed under greedy selection and wonders why nothing changes."""
    view = generation_explorer(step=1)
    control(view, "Selection").value = True
    assert control(view, "Seed").disabled
    assert control(view, "Temperature").disabled
    assert "Greedy selection makes no draw" in text(view)
    assert "Seed and temperature have no effect" in text(view)
    assert strips(view) == []
    control(view, "Selection").value = False
    assert not control(view, "Seed").disabled
    assert len(strips(view)) == 1


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("<start> teh cat", "'teh' is not among the 7 words"),
        ("   ", "The prompt is empty"),
        ("the " * 17, "The prompt has 17 tokens; the context bound is 16"),
    ],
)
def test_a_prompt_that_cannot_be_read(typed: str, sentence: str) -> None:
    """Bug: a typing error ends in a traceback, changes the run, or wipes out what was typed."""
    view = generation_explorer(step=2)
    before, drawing = view.state.situation, page(view)
    control(view, "Prompt").value = typed
    assert sentence in told(view)
    assert view.state.situation is before
    assert page(view) == drawing
    assert control(view, "Prompt").value == typed
    control(view, "Prompt").value = "the cat"
    assert told(view) == ""
    assert view.state.situation.prompt == (1, 2)


def test_a_bound_below_the_prompt() -> None:
    """Bug: the field keeps a bound that was refused, or the refusal is wiped out as it goes back."""
    view = generation_explorer()
    control(view, "Context bound").value = 2
    assert "shorten the prompt or raise the bound" in told(view)
    assert control(view, "Context bound").value == view.state.situation.context_length == 16
    control(view, "Context bound").value = 3
    assert told(view) == ""
    assert "the prefix fills the context of 3 positions" in said(view)


def test_taking_another_token() -> None:
    """Bug: the branch is of another step or token, or is not held against the run."""
    view = generation_explorer(step=2)
    run = run_of(view.state.situation)
    press(view, "slept")
    branch = branch_of(view.state.situation)
    assert branch is not None
    assert (branch.place, branch.run.token_ids[1]) == (1, 5)
    assert prefix(view)[-1] == "slept"
    assert [note for _, note in chips(view) if "taken" in note] == ["4, new, taken"]
    assert "The run and the branch at step 2" in text(view)
    for shown in (run, branch.run):
        assert f"{shown.probability:.6f}" in text(view)
    press(view, "Forward")
    assert followed(view.state.situation) is branch.run
    assert control(view, "slept").disabled  # behind the branch
    press(view, "Back to the run")
    assert view.state.situation.branch == (1, 5)
    assert not control(view, "slept").disabled
    press(view, "Follow the branch", "Drop the branch")
    assert view.state.situation.branch is None
    assert "The run and the branch" not in text(view)


def test_the_button_of_the_token_that_stands_there_has_a_tick() -> None:
    """Bug: the tick stays where it was a step ago, or says what the draw selected and not what was taken."""
    view = generation_explorer()

    def ticked() -> list[str]:
        return [part.description for part in parts(view.widget) if getattr(part, "icon", "") == "check"]

    assert ticked() == []
    press(view, "Forward")
    assert ticked() == ["dog"]
    press(view, "sat")
    assert ticked() == ["sat"]
    press(view, "dog")
    assert ticked() == ["dog"]
    assert view.state.situation.branch is None


def test_the_controls_that_lead_back_are_there_only_with_a_branch() -> None:
    """Bug: a button that can do nothing is in the way, or the one that drops a branch is hidden."""
    view = generation_explorer(step=1)
    back = [control(view, "Follow the branch"), control(view, "Drop the branch")]
    assert [made.layout.display for made in back] == ["none", "none"]
    press(view, "cat")
    assert [made.layout.display for made in back] == [None, None]
    view.state.change(seed=3)
    assert [made.layout.display for made in back] == ["none", "none"]


def test_play_and_pause() -> None:
    """Bug: the button says Play while the run plays, or the player keeps a bound of an earlier run."""
    view = generation_explorer()
    (clock,) = [part for part in parts(view.widget) if isinstance(part, widgets.Play)]
    press(view, "Play")
    assert clock.playing
    clock.value += 1  # as the front end does
    assert view.state.situation.step == 1
    press(view, "Pause")
    assert not clock.playing
    assert control(view, "Play")
    control(view, "New tokens").value = 12
    assert clock.max == control(view, "Step").max == len(run_of(view.state.situation))
    press(view, "Play")
    clock.playing = False  # at the end, by itself
    assert control(view, "Play")


def large_decoder() -> Decoder:
    words = Vocabulary(tuple(f"w{number}" for number in range(300)))
    return Decoder("large", CausalLanguageModel(n_vocab=300, seed=1, context_length=32), words)


def test_a_large_vocabulary() -> None:
    """Bug: hundreds of rows or buttons, or a token that can be picked from no list."""
    view = generation_explorer(State((large_decoder(),), prompt=(3, 4), context_length=32, step=1))
    listed = control(view, "Another token")
    shown = steps_of(view.state.situation)
    assert [value for _, value in listed.options] == [share.token_id for share in shown.shares]
    assert len(body(view, "Shares at step 1")) == len(shown.shares)
    assert f"and {300 - len(shown.shares)} more, which share {shown.left_out:.4f}" in text(view)
    assert len([part for part in parts(view.widget) if isinstance(part, widgets.Button)]) < 10
    other = next(s.token_id for s in shown.shares if s.token_id != run_of(view.state.situation)[0].token_id)
    listed.value = other
    assert view.state.situation.branch is None  # picking is not taking yet
    press(view, "Take it")
    assert view.state.situation.branch == (0, other)
    assert control(view, "This decoder has no end token").disabled


def test_from_one_decoder_to_another_and_back() -> None:
    """Bug: bounds, words or buttons of the old decoder stay, or the change ends in a traceback."""
    words = Vocabulary(("the", "cat", "<start>", "owl"))
    small = Decoder("small", CausalLanguageModel(n_vocab=4, context_length=8), words, end_id=3)
    view = generation_explorer(State((*lesson_decoders(), small, large_decoder()), step=2))
    press(view, "sat")
    control(view, "Parameters").value = small
    assert told(view) == ""
    assert prefix(view)[:3] == ["<start>", "the", "cat"]
    assert (control(view, "Context bound").max, control(view, "Context bound").value) == (8, 8)
    assert control(view, "owl ends the run").value
    press(view, "owl")
    control(view, "Parameters").value = lesson_decoders()[0]
    assert (control(view, "Context bound").max, control(view, "Context bound").value) == (16, 16)
    control(view, "Parameters").value = view.state.decoders[3]
    assert "not among the 300 words" in told(view)
    assert control(view, "Parameters").value is lesson_decoders()[0]


def test_every_situation_of_the_controls_can_be_drawn() -> None:
    """Bug: a corner of the controls' ranges ends in a traceback."""
    view = generation_explorer(State((*lesson_decoders(),)))
    corners = {
        "Prompt": ["<start>", "cat " * 16],
        "Temperature": [0.1, 3.0],
        "New tokens": [1, 12],
        "Context bound": [16, 1],
        "Selection": [True, False],
        "Seed": [0, 100],
    }
    for description, values in corners.items():
        for value in values:
            control(view, description).value = value
            press(view, "End", "dog", "Forward", "Start", "sat", "End")
            assert said(view) == view.sentence(view.state.situation)
            plt.close(view.picture(view.state.situation).figure)


def test_what_is_marked_is_marked_in_words() -> None:
    """Bug: the newest token, the selected share or the draw is told by colour alone."""
    view = generation_explorer(step=3)
    assert chips(view)[5][1] == "5, new"
    assert [row[0] for row in body(view, "Shares at step 3") if row[-1] == "selected"] == [prefix(view)[5]]
    (alternative,) = strips(view)
    uniform = run_of(view.state.situation)[2].uniform
    assert f"The draw {uniform:.4f} fell on" in alternative


def test_without_a_front_end() -> None:
    """Bug: GitHub, nbconvert or a PDF shows nothing, or a picture of another step."""
    view = generation_explorer(step=2)
    bundle, _ = view._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert bundle["image/png"]
    assert view.drawing(view.state.situation) in bundle["text/html"]
    assert "step 2 read &lt;start&gt; the cat dog and selected the" in bundle["text/html"]
    assert bundle["text/plain"].startswith("Run, step 2 of 5: read 4 tokens, selected the at 0.1179")
    view.state.change(step=0)
    assert "prompt: &lt;start&gt;, the, cat" in view._repr_mimebundle_()[0]["text/html"]


def test_two_views_of_one_state() -> None:
    """Bug: a view keeps a situation of its own."""
    state = State()
    one, other = generation_explorer(state), generation_explorer(state, step=1)
    press(one, "Forward")
    assert page(one) == page(other)
    assert state.situation.step == 2
    with pytest.raises(ValueError, match="seed is 101"):
        generation_explorer(seed=101)
