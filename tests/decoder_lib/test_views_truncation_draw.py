"""The truncation view as an object: its controls, what it draws, and what it says."""

from __future__ import annotations

import pytest
from views import chips, control, page, press, said, table, text, told

from decoder_lib import CausalLanguageModel, Vocabulary
from decoder_lib.views.situation import POLICIES, Decoder, lesson_decoders
from decoder_lib.views.state import State
from decoder_lib.views.truncation.compute import WHOLE, windows_of
from decoder_lib.views.view import View
from decoder_lib.widgets import window_view

pytestmark = pytest.mark.usefixtures("no_screen")


def read(view: View, name: str) -> list[str]:
    """The text as the policy of this name reads it, each token with what is said of it."""
    return [" ".join(chip) for chip in chips(view, f"The text as {name} reads")]


def shares(view: View) -> list[list[str]]:
    """The lines of the table of shares, its head first."""
    return table(view, "Shares of the next token")


def test_what_each_policy_reads_is_drawn_and_said() -> None:
    """Bug: a dropped token is told by its looks alone, or a policy's row shows another's window."""
    view = window_view()
    press(view, "Forward")
    assert control(view, "Step").value == 5
    assert read(view, WHOLE)[-2:] == ["slept at 5", "the at 6, new"]
    assert read(view, "stop") == [
        f"{word} not read" for word in ["<start>", "the", "cat", "the", "the", "slept", "the"]
    ]
    assert read(view, "drop oldest") == [
        "<start> dropped",
        "the dropped",
        "cat at 0",
        "the at 1",
        "the at 2",
        "slept at 3",
        "the at 4, new",
    ]
    assert read(view, "keep first") == [
        "<start> at 0, kept",
        "the at 1, kept",
        "cat at 2, kept",
        "the dropped",
        "the dropped",
        "slept at 3",
        "the at 4, new",
    ]
    assert len(page(view).find_all("s")) == 7 + 2 + 2
    assert windows_of(view.state.situation, view.truncating).sentence in said(view)


def test_shares_stand_beside_each_other() -> None:
    """Bug: a column holds another policy's shares, or marks another token than would be selected."""
    view = window_view()
    seen = windows_of(view.state.situation, view.truncating)
    head, *lines, moved = shares(view)
    assert head == ["token", "whole text", "drop oldest (this run)", "keep first"]
    known = [each for each in seen.readings if each.distribution is not None]
    words = view.state.situation.words.tokens
    assert lines == [
        [word] + [f"{each.distribution[n]:.4f}{' ✓' if each.selected == n else ''}" for each in known]
        for n, word in enumerate(words)
    ]
    assert moved[1:] == ["–", f"{known[1].moved:.4f}", f"{known[2].moved:.4f}"]
    assert 0 < known[1].moved < 1


def test_stepping_goes_from_the_first_pass_to_the_last() -> None:
    """Bug: a button moves the wrong way or past an end, or the drawing lags behind the number."""
    view = window_view()
    steps = windows_of(view.state.situation, view.truncating).steps
    for pressed, number in [("Start", 1), ("Back", 1), ("Forward", 2), ("End", steps), ("Forward", steps)]:
        press(view, pressed)
        assert control(view, "Step").value == number
        assert len(read(view, WHOLE)) == 3 + number - 1
        assert f"Step {number} of {steps}" in said(view)
    control(view, "Step").value = 2
    assert len(read(view, WHOLE)) == 4
    assert "all of it is read" in said(view)


def test_the_policy_of_the_run_can_be_changed() -> None:
    """Bug: the policy does not reach the run, or stopping is not shown as the end that it is."""
    view = window_view()
    tokens = {}
    for policy in POLICIES:
        control(view, "Policy of the run").value = policy
        press(view, "End")
        tokens[policy] = read(view, WHOLE)
        assert view.state.situation.policy == policy
        assert f"in the run of '{policy}'" in said(view)
    assert len(set(map(tuple, tokens.values()))) == 3
    control(view, "Policy of the run").value = "stop"
    press(view, "End")
    assert control(view, "Step").max == 4
    assert "'stop' ends the run" in said(view)
    assert "✓" not in "".join(map("".join, shares(view)))
    assert "The run has ended" in text(view)


def test_tokens_kept_first_stay_within_the_context() -> None:
    """Bug: a number that leaves no room raises, or the number shown is not the one that is kept."""
    view = window_view()
    kept = control(view, "Tokens kept first")
    kept.value = 4
    assert [chip for chip in read(view, "keep first") if "kept" in chip] == [
        "<start> at 0, kept",
        "the at 1, kept",
        "cat at 2, kept",
        "the at 3, kept",
    ]
    kept.value = 99
    assert kept.value == 4
    control(view, "Context bound").value = 4
    assert (kept.value, kept.max) == (2, 2)
    assert "kept" in read(view, "keep first")[1]
    control(view, "Context bound").value = 8
    assert kept.value == 4


def test_a_context_without_room_says_so() -> None:
    """Bug: a context of one or two positions ends in a traceback."""
    view = window_view(prompt=(0,))
    control(view, "Policy of the run").value = "keep first"
    for bound in (2, 1):
        control(view, "Context bound").value = bound
        assert "'keep first' has no room in this context" in said(view)
        press(view, "Back", "Forward", "End", "Start")
        control(view, "Tokens kept first").value = 2
        view._repr_mimebundle_()
    control(view, "Context bound").value = 3
    assert "no room" not in said(view)


def test_wrong_settings_are_said_and_change_nothing() -> None:
    """Bug: an unknown word or a bound below the prompt ends in a traceback or empties the view."""
    view = window_view()
    before, drawing = view.state.situation, page(view)
    for description, value in [("Prompt", "the cow"), ("Context bound", 2)]:
        control(view, description).value = value
        assert told(view) != ""
        assert (view.state.situation, page(view)) == (before, drawing)


def test_settings_reach_the_run() -> None:
    """Bug: a control that changes nothing."""
    view = window_view(end=False)
    seen = set()
    for description, value in [
        ("Seed", 9),
        ("Temperature", 0.3),
        ("New tokens", 9),
        ("Prompt", "the dog"),
        ("Parameters", lesson_decoders()[1]),
        ("Selection", True),
        ("<end> ends the run", True),
    ]:
        control(view, description).value = value
        press(view, "End")
        seen.add(text(view))
    assert len(seen) == 7


def test_a_state_of_ones_own_is_left_as_it_is() -> None:
    """Bug: a view added to a state changes what the others show."""
    state = State(seed=5)
    before = state.situation
    view = window_view(state)
    assert state.situation is before
    assert "does not fill the context of 16" in said(view)
    assert window_view(context_length=9).state.situation.context_length == 9
    assert window_view(prompt=(0, 1) * 4).state.situation.context_length == 9
    assert window_view(prompt=(0, 1) * 8).state.situation.context_length == 16


def test_a_larger_decoder() -> None:
    """Bug: hundreds of tokens in a table, or nothing said about those left out."""
    words = Vocabulary(tuple(f"word{n}" for n in range(300)))
    large = Decoder("large", CausalLanguageModel(300, context_length=24), words)
    view = window_view(decoders=(large,))
    _, *lines, _ = shares(view)
    assert 10 <= len(lines) <= 13
    assert f"{300 - len(lines)} more tokens" in text(view)


def test_a_text_beyond_the_decoders_own_context() -> None:
    """Bug: the whole text is asked for where no decoder has room for it."""
    view = window_view(prompt=(0, 1) * 8, end=False)
    press(view, "End")
    assert "no room for the whole text" in text(view)
    assert WHOLE not in shares(view)[0]
    assert shares(view)[-1][1:] == ["–", "–"]


def test_it_stands_for_itself_where_no_widget_can_run() -> None:
    """Bug: on GitHub the view is an empty cell, or its picture has no alternative."""
    for policy in POLICIES:
        view = window_view(policy=policy)
        data, metadata = view._repr_mimebundle_()
        assert data["text/plain"] == windows_of(view.state.situation, view.truncating).sentence
        assert policy in metadata["image/png"]["alt"]
        assert "Shares of the next token" in data["text/html"]


def test_words_cannot_become_markup() -> None:
    """Bug: a vocabulary with angle brackets or quotes breaks the drawing."""
    words = Vocabulary(("<b>", '"x"', "&y", "z"))
    odd = Decoder("odd", CausalLanguageModel(4, context_length=8), words, 3)
    view = window_view(decoders=(odd,), context_length=4, prompt=(0, 1, 2), end=False)
    assert not page(view).find_all("b")
    assert read(view, "drop oldest")[:2] == ["<b> dropped", '"x" at 0']
