"""The cache view as an object: its controls, what it draws, and what it says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from situations import SITUATIONS, often
from views import captions, control, page, said, table, text, told

from decoder_lib import CausalLanguageModel, Vocabulary, generate
from decoder_lib.views.cache.compute import cached_run_of
from decoder_lib.views.situation import Decoder, Situation, lesson_decoders
from decoder_lib.views.state import State
from decoder_lib.views.view import View
from decoder_lib.widgets import cache_view

UNTRAINED, TRAINED = lesson_decoders()
COMPUTED, CACHED, NOT_YET = "computed", "from the cache", "not there yet"


pytestmark = pytest.mark.usefixtures("no_screen")


def grid(view: View) -> list[list[str]]:
    """The cells of each pass, with its two counts at the end."""
    return [row[1:] for row in table(view, "Positions by passes")[1:-1]]


def test_the_grid_fills_with_each_step() -> None:
    """Bug: the grid shows the whole run at once, a pass too many, or exchanges computed and cached."""
    view = cache_view()
    assert {cell for row in grid(view) for cell in row[:8]} == {NOT_YET}
    run = generate(UNTRAINED.model, (0, 1, 2), 5, end_id=6, use_cache=True)
    for number, step in enumerate(run, 1):
        control(view, "Forward").click()
        rows = grid(view)
        held = len(step.context) - step.positions_read
        ahead = 8 - len(step.context)
        there = [CACHED] * held + [COMPUTED] * step.positions_read + [NOT_YET] * ahead
        assert rows[number - 1] == [*there, str(step.positions_read), str(len(step.context))]
        assert all(row == [NOT_YET] * 8 + ["", ""] for row in rows[number:])
    assert table(view, "Positions by passes")[-1] == ["so far", "", "7", "25"]
    control(view, "Back").click()
    assert table(view, "Positions by passes")[-1] == ["so far", "", "6", "18"]


def test_tokens_that_are_not_selected_yet_are_not_told() -> None:
    """Bug: the head of the grid gives away what the run will select."""
    view = cache_view(step=1)
    heads = table(view, "Positions by passes")[0][1:9]
    assert heads == ["0<start>", "1the", "2cat", "3dog", "4", "5", "6", "7"]


def test_an_edit_shows_what_falls_and_what_is_fed() -> None:
    """Bug: entries before the edit fall, or one after it stays, or the newest token is said to be held."""
    view = cache_view(step=3)
    control(view, "Edit position").value = 2
    control(view, "Token there").value = 5
    assert view.state.situation.edit == (2, 5)
    heads, was, entries, fed = table(view, "What becomes of the cache")
    assert heads[1:] == ["0<start>", "1the", "2slept", "3dog", "4the", "5<start>"]
    assert was == ["was", "", "", "cat", "", "", ""]
    assert entries == ["entry", "stays", "stays", "falls", "falls", "falls", "none yet"]
    assert fed == ["next pass", "cached", "cached", "computed", "computed", "computed", "computed"]
    assert "Of 5 entries 3 fall; the next pass computes 4 positions." in said(view)


def test_both_distributions_stand_side_by_side() -> None:
    """Bug: the columns are exchanged, or the selected token is marked in the wrong one."""
    there = {"decoder": TRAINED, "prompt": (0, 1, 2, 4), "greedy": True, "branch": (0, 1), "on_branch": True}
    view = cache_view(**there, step=1, edit=(2, 3))
    right = cached_run_of(view.state.situation).edit
    assert right is not None
    assert right.stale is not None
    rows = table(view, "The next token")[1:]
    assert [row[0] for row in rows] == ["<start>", "the", "cat", "dog", "sat", "slept", "<end>"]
    assert [row[1] for row in rows] == [f"{share:.4f}" for share in right.right.shares]
    assert [row[2] for row in rows] == [f"{share:.4f}" for share in right.stale.shares]
    notes = {row[0]: row[4] for row in rows if row[4]}
    assert notes == {"cat": "selected: right", "dog": "selected: stale"}
    assert "would select dog; the right answer is cat" in said(view)
    assert "the text before the edit, where position 2 was cat." in text(view)


def test_an_edit_of_the_newest_token_spoils_nothing() -> None:
    """Bug: a comparison with a stale cache is drawn where none is stale."""
    view = cache_view(step=3)
    control(view, "Edit position").value = 5
    control(view, "Token there").value = 4
    assert "falls" not in table(view, "What becomes of the cache")[2]
    assert captions(view) == ["Positions by passes", "What becomes of the cache"]
    assert "No entry falls" in said(view)


def test_an_edit_can_be_undone() -> None:
    """Bug: the token stays after the undo, or the control still shows it."""
    view = cache_view(step=3, edit=(1, 4))
    assert control(view, "Edit position").value == 1
    assert control(view, "Token there").value == 4
    control(view, "Undo the edit").click()
    assert view.state.situation.edit is None
    assert control(view, "Edit position").value == 1
    assert control(view, "Token there").value == 1
    assert captions(view) == ["Positions by passes"]
    control(view, "Undo the edit").click()
    assert view.state.situation.edit is None


def test_another_position_starts_another_edit() -> None:
    """Bug: the token of the last edit is put at the new position, or its own token is kept from it."""
    view = cache_view(step=3, edit=(1, 4))
    control(view, "Edit position").value = 3
    assert view.state.situation.edit is None
    assert control(view, "Token there").value == 3
    control(view, "Token there").value = 6
    assert view.state.situation.edit == (3, 6)


def test_the_position_stays_inside_the_prefix() -> None:
    """Bug: going back leaves the control at a token that is no longer there, and its list is an old one."""
    view = cache_view(step=5, edit=(7, 1))
    control(view, "Start").click()
    position = control(view, "Edit position")
    assert position.value == 2
    assert [name for name, _ in position.options] == ["0: <start>", "1: the", "2: cat"]
    assert control(view, "Token there").value == 2
    assert told(view) == ""


def test_a_run_that_changes_drops_the_edit() -> None:
    """Bug: the edit of one run is applied to another."""
    view = cache_view(step=3, edit=(1, 4))
    control(view, "Selection").value = True
    assert view.state.situation.edit is None
    assert control(view, "Token there").value == 1
    control(view, "New tokens").value = 2
    assert len(grid(view)) == 2


def test_an_unknown_word_changes_nothing() -> None:
    """Bug: a mistyped prompt raises into the notebook, or empties the grid."""
    view = cache_view(step=2)
    before, there = page(view), view.state.situation
    control(view, "Prompt").value = "the bird"
    assert "'bird' is not among" in told(view)
    assert page(view) == before
    assert view.state.situation is there


def test_a_decoder_with_other_words() -> None:
    """Bug: the tokens on offer stay those of the decoder before, or hundreds of shares are drawn."""
    words = Vocabulary(("<start>", "the", "cat", *(f"w{i}" for i in range(297))))
    large = Decoder("large", CausalLanguageModel(n_vocab=300, seed=1), words)
    view = cache_view(State((UNTRAINED, large), step=3))
    control(view, "Parameters").value = large
    control(view, "End").click()
    token = control(view, "Token there")
    assert [name for name, _ in token.options] == list(words.tokens)
    token.value = 250
    assert "2: cat" in str(control(view, "Edit position").options)
    rows = table(view, "The next token")[1:]
    assert 10 <= len(rows) <= 12
    assert f"{300 - len(rows)} more tokens are not shown." in text(view)
    label = str(view.picture(view.state.situation).get_label())
    assert label.count(rows[0][0]) >= 2
    assert label.count(" 0.") <= 2 * len(rows)


def test_signs_have_words_and_tables_have_captions() -> None:
    """Bug: a screen reader reads out dots and circles, or nothing."""
    view = cache_view(step=3, edit=(1, 4))
    assert {cell for row in grid(view) for cell in row[:8]} == {COMPUTED, CACHED, NOT_YET}
    assert len(page(view).find_all("table")) == len(captions(view)) == 3
    (key,) = page(view).select('[aria-label="signs"]')
    assert all(words in key.get_text() for words in (COMPUTED, CACHED, NOT_YET))


@often
@given(SITUATIONS, st.data())
def test_no_control_raises(start: Situation, data: st.DataObject) -> None:
    """Bug: some order of stepping and editing leaves controls and state in two minds, or raises."""
    fields = {name: getattr(start, name) for name in ("decoder", "prompt", "greedy", "seed", "end")}
    view = cache_view(**fields, max_new_tokens=start.max_new_tokens, context_length=start.context_length)
    for _ in range(5):
        action = data.draw(st.sampled_from(["Forward", "Back", "End", "Start", "position", "token", "undo"]))
        if action == "position":
            last = len(control(view, "Edit position").options) - 1
            control(view, "Edit position").value = data.draw(st.integers(0, last))
        elif action == "token":
            control(view, "Token there").value = data.draw(st.integers(0, 6))
        else:
            control(view, "Undo the edit" if action == "undo" else action).click()
        shown = cached_run_of(view.state.situation)
        prefix = shown.prefix if shown.edit is None else shown.edit.after
        assert control(view, "Token there").value == prefix[control(view, "Edit position").value]
        assert told(view) == ""
        assert shown.sentence(start.words) == said(view)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"step": 3}, "with a cache, 5 positions computed in all"),
        ({}, "without a cache, 25 positions computed in all"),
        ({"step": 3, "edit": (1, 4)}, "from the stale cache: <start> "),
        ({"context_length": 3}, "Grids of passes by positions"),
    ],
    ids=["stepped", "at the start", "edited", "full context"],
)
def test_without_a_widget_there_are_picture_tables_and_words(settings: dict, words: str) -> None:
    """Bug: GitHub and PDF readers get an empty cell, a traceback, or a picture of something else."""
    view = cache_view(**settings)
    assert words in str(view.picture(view.state.situation).get_label())
    bundle, _ = view._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert bundle["text/plain"] == cached_run_of(view.state.situation).sentence(UNTRAINED.words)
    assert "Positions by passes" in bundle["text/html"]
    assert "<img " in bundle["text/html"]
