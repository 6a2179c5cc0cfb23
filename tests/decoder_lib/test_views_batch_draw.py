"""The batch view as an object: its controls, what it draws, and what it says."""

from __future__ import annotations

import pytest
from views import body, captions, control, page, parts, press, said, text, told

from decoder_lib import LESSON_VOCABULARY, CausalLanguageModel, Vocabulary
from decoder_lib.views.batch.compute import rounds_of
from decoder_lib.views.situation import Decoder, lesson_decoders
from decoder_lib.views.state import State
from decoder_lib.widgets import batch_view, generation_explorer

pytestmark = pytest.mark.usefixtures("no_screen")


def test_stepping_shows_round_after_round() -> None:
    """Bug: a button moves the wrong way or past an end, or the drawing lags behind the number."""
    view = batch_view(seed=2)
    for pressed, number in [
        ("Forward", 2),
        ("Start", 0),
        ("Back", 0),
        ("End", 5),
        ("Forward", 5),
        ("Back", 4),
    ]:
        press(view, pressed)
        assert control(view, "Round").value == number
        seen = rounds_of(view.state.situation, view.batch)
        assert seen.shown == number
        assert seen.sentence in said(view)
        assert len(body(view, "The finished mask")) == number
        tokens = [cells[-2] for cells in body(view, "The rows after")]
        assert tokens == [str(len(row.tokens)) for row in seen.rows]
    control(view, "Round").value = 3
    assert body(view, "The rows after round 3 of 5") == [
        ["row 0, seed 2<start> the cat", "sat", "the", "dog", "", "", "3", "going on"],
        ["row 1, seed 3<start> the dog", "sat", "✓ <end>", "done", "", "", "2", "✓ finished in round 2"],
        [
            "row 2, seed 4<start> the cat sat the",
            "dog",
            "slept",
            "✓ <end>",
            "",
            "",
            "3",
            "✓ finished in round 3",
        ],
        ["row 3, seed 5<start>", "the", "dog", "slept", "", "", "3", "going on"],
    ]
    assert body(view, "The finished mask")[1:] == [
        ["2", "0, 1, 2, 3", "False", "✓ True", "False", "False"],
        ["3", "0, 2, 3", "False", "✓ True", "✓ True", "False"],
    ]
    assert [cells[1:] for cells in body(view, "What padding costs")] == [
        ["3", "11"],
        ["4", "12"],
        ["15", "43"],
        ["21", "65"],
        ["28", "72"],
    ]


def test_a_truncated_row_is_told_from_a_finished_one() -> None:
    """Bug: a row that was cut off looks finished, or the other way round."""
    view = batch_view(seed=2, prompts=["<start>", "<start> the dog"])
    control(view, "Context bound").value = 4
    press(view, "End")
    cut, done = body(view, "The rows after")
    assert cut[-1] == "truncated: context full"
    assert done[-1].startswith(("✓ finished", "truncated: context"))
    view = batch_view(seed=2)
    press(view, "End")
    assert body(view, "The rows after")[3][-1] == "truncated: length bound"
    assert body(view, "The finished mask")[-1][-1] == "False"


def test_prompts_can_be_edited() -> None:
    """Bug: the text of the prompts does not reach the batch, or what was typed is lost."""
    view = batch_view()
    box = control(view, "Prompts")
    box.value = "<start>\n\n  the   dog"
    assert view.batch.prompts == ("<start>", "the dog")
    assert box.value == "<start>\nthe dog"
    assert len(body(view, "The rows after")) == 2


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [("<start> the cow", "row 0: 'cow' is not among"), ("  ", "0 prompts"), ("the\n" * 9, "9 prompts")],
)
def test_prompts_that_cannot_be_read_change_nothing(typed: str, sentence: str) -> None:
    """Bug: a typing error ends in a traceback, changes the rows, or wipes out what was typed."""
    view = batch_view()
    before, drawing = view.batch, page(view)
    control(view, "Prompts").value = typed
    assert sentence in told(view)
    assert (view.batch, page(view)) == (before, drawing)
    assert control(view, "Prompts").value == typed
    press(view, "Forward")
    assert told(view) == ""
    assert control(view, "Prompts").value == "\n".join(before.prompts)


def test_settings_reach_the_rows() -> None:
    """Bug: a control that changes nothing, or the run's own prompt shown as if it were one of the rows."""
    view = batch_view(seed=2)
    assert not [part for part in parts(view.widget) if getattr(part, "description", None) == "Prompt"]
    seen = set()
    for description, value in [
        ("Seed", 9),
        ("Temperature", 3.0),
        ("New tokens", 3),
        ("Selection", True),
        ("<end> ends the run", False),
        ("Parameters", lesson_decoders()[0]),
    ]:
        control(view, description).value = value
        press(view, "End")
        seen.add(text(view))
    assert len(seen) == 6
    heads = [cells[0] for cells in body(view, "The rows after")]
    assert heads[0] == "row 0<start> the cat"  # greedy: no seed
    assert "✓" not in "".join(map("".join, body(view, "The rows after")))  # without an end token


def test_a_bound_that_leaves_a_row_no_room_says_so() -> None:
    """Bug: a bound below one row's prompt raises, or hides the other rows."""
    view = batch_view(seed=2)
    control(view, "Context bound").value = 3
    assert "left out: its prompt has 5 tokens; the context bound is 3" in text(view)
    assert len(body(view, "The rows after")) == 4
    control(view, "Prompts").value = "<start> the cat sat"
    assert said(view) == "There is no row that the model could be handed."
    assert (control(view, "Round").value, control(view, "Round").max) == (0, 0)
    press(view, "Forward", "Back", "End", "Start")
    control(view, "Context bound").value = 9
    press(view, "Forward")
    assert control(view, "Round").value == 1


def test_the_number_of_the_round_stays_within_the_batch() -> None:
    """Bug: the batch becomes shorter, and the number stands for a round that there is not."""
    view = batch_view(seed=2, decoder=lesson_decoders()[0], end=False, max_new_tokens=12)
    press(view, "End")
    assert control(view, "Round").value == 12
    control(view, "New tokens").value = 2
    assert (control(view, "Round").value, control(view, "Round").max) == (2, 2)
    assert "The rows after round 2 of 2" in captions(view)


def test_views_of_one_state_show_the_same_settings() -> None:
    """Bug: the view keeps settings of its own beside the state, or changes what another view looks at."""
    state = State(seed=3)
    view, explorer = batch_view(state), generation_explorer(state)
    assert state.situation.decoder is lesson_decoders()[0]
    control(explorer, "Seed").value = 8
    assert body(view, "The rows after")[0][0].startswith("row 0, seed 8")
    before = page(explorer)
    press(view, "Forward")
    assert page(explorer) == before


def test_a_larger_decoder() -> None:
    """Bug: the view works with the lesson's seven words only."""
    words = Vocabulary(tuple(f"word{n}" for n in range(300)))
    large = Decoder("large", CausalLanguageModel(300, context_length=24), words)
    lesson = lesson_decoders()[1]
    view = batch_view(decoders=(large, lesson), prompt=(0, 1))
    press(view, "End")
    assert [cells[0] for cells in body(view, "The rows after")] == [
        "row 0, seed 0word0 word1",
        "row 1, seed 1word0",
    ]
    assert {cells[-1] for cells in body(view, "The rows after")} == {"truncated: length bound"}
    control(view, "Parameters").value = lesson  # whose words the prompt does not have
    assert "'word0'" in told(view)
    assert control(view, "Parameters").value is large


def test_it_stands_for_itself_where_no_widget_can_run() -> None:
    """Bug: on GitHub the view is an empty cell, or its picture has no alternative."""
    view = batch_view(seed=2)
    data, metadata = view._repr_mimebundle_()
    assert rounds_of(view.state.situation, view.batch).sentence == data["text/plain"]
    assert "row 3: <start>" in metadata["image/png"]["alt"]
    assert "truncated (length bound)" in metadata["image/png"]["alt"]
    assert "The finished mask" in data["text/html"]


def test_words_cannot_become_markup() -> None:
    """Bug: a vocabulary with angle brackets or quotes breaks the drawing."""
    words = Vocabulary(("<b>", '"x"', "&y", "z"))
    odd = Decoder("odd", CausalLanguageModel(4, context_length=8), words, 3)
    view = batch_view(decoders=(odd,), context_length=8, prompt=(0, 1, 2))
    press(view, "End")
    assert not page(view).find_all("b")
    assert '<b> "x" &y' in text(view)


def test_the_lessons_words_are_those_of_the_first_batch() -> None:
    """Bug: the four prompts can't be read by the decoder that they are made for."""
    assert [LESSON_VOCABULARY.encode(prompt) for prompt in batch_view().batch.prompts]
