"""The search view as an object: its controls, what it draws, and what it says."""

from __future__ import annotations

import pytest
from bs4 import Tag
from views import body, control, page, said, text, told

from decoder_lib import CausalLanguageModel, Vocabulary, beam_search, rank_continuations
from decoder_lib.views.search.compute import tree_of
from decoder_lib.views.situation import Decoder, lesson_decoders
from decoder_lib.views.state import State
from decoder_lib.views.view import View
from decoder_lib.widgets import search_view

UNTRAINED, TRAINED = lesson_decoders()


pytestmark = pytest.mark.usefixtures("no_screen")


def svg(view: View) -> Tag:
    """The tree's picture."""
    (found,) = page(view).select("svg.tree")
    return found


def of_class(view: View, name: str) -> list[Tag]:
    return [part for part in svg(view).find_all(True) if " ".join(part.get("class", ())) == name]


def texts(view: View, *classes: str) -> list[str]:
    return [part.get_text() for name in classes for part in of_class(view, name) if part.name == "text"]


def decode(token_ids: object) -> str:
    return UNTRAINED.words.decode(token_ids)  # type: ignore[arg-type]


def test_the_width_sets_what_the_beam_keeps() -> None:
    """Bug: the beam's table and boxes lag behind the control, or show another round's beam."""
    view = search_view()
    for width in (2, 7, 3):
        control(view, "Beam width").value = width
        assert view.state.situation.beam_width == width
        rows = body(view, f"What a beam of width {width} keeps after each token")
        assert len(rows) == width
        for length in range(1, 5):
            beams = beam_search(UNTRAINED.model, (0, 1, 2), length, width)
            shown = [row[length].rsplit(" (", 1)[0] for row in rows]
            assert shown == [decode(beam.token_ids) for beam in beams]
        assert len(of_class(view, "box kept")) == 4 * width
        assert f"A beam of width {width} " in said(view)


def test_the_three_ways_are_in_words() -> None:
    """Bug: a reader without the picture learns neither which continuations are marked nor their places."""
    view = search_view(beam_width=3)
    ranked, _ = rank_continuations(UNTRAINED.model, (0, 1, 2), 4)
    rows = {row[0]: row[1:] for row in body(view, "Three ways to choose among 2,401 continuations")}
    assert rows["most probable"][0] == decode(ranked[0])
    assert rows["most probable"][2] == "1"
    assert rows["greedy"] == [decode(ranked[3]), "0.003405", "4"]
    assert rows["best in the beam"][0] == decode(beam_search(UNTRAINED.model, (0, 1, 2), 4, 3)[0].token_ids)


def test_paths_differ_in_line_and_words() -> None:
    """Bug: the two paths are told apart by colour alone, or one hides the other where both go."""
    view = search_view()
    greedy, best = of_class(view, "greedy"), of_class(view, "best")
    assert len(greedy) == len(best) == 4
    assert not {line.get("d") for line in greedy} & {line.get("d") for line in best}
    styles = "".join(style.get_text() for style in page(view).find_all("style"))
    rules = {rule.split("{")[0].split()[-1]: rule for rule in styles.split("}") if "{" in rule}
    assert "stroke-dasharray" in rules[".best"]
    assert "stroke-dasharray" not in rules[".greedy"]
    ends = texts(view, "strong")
    assert "greedy, place 4" in ends
    assert "most probable, place 1" in ends


def test_a_path_that_the_beam_has_lost_is_crossed() -> None:
    """Bug: it is not seen at which token the beam loses the best, or the cross stays once it finds it."""
    lost = search_view(beam_width=11)
    tree = tree_of(lost.state.situation)
    assert tree.lost == 3
    crossed = 2 + sum(level.node(tree.greedy[: i + 1]).kept is None for i, level in enumerate(tree.levels))
    assert len(of_class(lost, "cross")) == crossed
    assert of_class(search_view(beam_width=12), "cross") == []


def test_columns_say_what_is_left_out() -> None:
    """Bug: a few nodes look like all there are."""
    view = search_view()
    tree = tree_of(view.state.situation)
    assert [text for text in texts(view, "strong") if ": " in text] == [
        "1 token: 7",
        "2 tokens: 49",
        "3 tokens: 343",
        "4 tokens: 2,401",
    ]
    boxes = len(of_class(view, "box")) + len(of_class(view, "box kept"))
    assert boxes == sum(len(level.nodes) for level in tree.levels)
    left_out = [text for text in texts(view, "small") if "drawn" in text]
    assert left_out == [f"{level.not_drawn:,} not drawn" for level in tree.levels]


def test_boxes_lie_inside_the_picture_and_apart() -> None:
    """Bug: a box hides another, or the last one is cut off."""
    picture = svg(search_view(beam_width=7))
    boxes = picture.select("rect.box")
    places = [(int(box["x"]), int(box["y"])) for box in boxes]
    assert len(set(places)) == len(places)
    for (x, y), box in zip(places, boxes, strict=True):
        assert x + int(box["width"]) < int(picture["width"])
        assert y + int(box["height"]) < int(picture["height"])
        below = [there for column, there in places if column == x and there > y]
        assert all(there >= y + int(box["height"]) for there in below)


def test_the_picture_has_a_text_alternative() -> None:
    """Bug: a screen reader meets a picture without a word, or a token breaks out of the markup."""
    view = search_view()
    assert svg(view).get("role") == "img"
    label = svg(view).get("aria-label") or ""
    assert label.startswith("Tree of continuations of <start> the cat.")
    assert tree_of(view.state.situation).sentence in label


def test_an_unknown_word_changes_nothing() -> None:
    """Bug: a mistyped prompt raises into the notebook, or is wiped out before it can be mended."""
    view = search_view()
    before, there = page(view), view.state.situation
    control(view, "Prompt").value = "the bird"
    assert "'bird' is not among" in told(view)
    assert page(view) == before
    assert view.state.situation is there
    assert control(view, "Prompt").value == "the bird"
    control(view, "Prompt").value = "<start> the"
    assert told(view) == ""
    assert view.state.situation.prompt == (0, 1)
    assert (svg(view).get("aria-label") or "").startswith("Tree of continuations of <start> the.")


def test_the_other_decoder_has_another_tree() -> None:
    """Bug: the tree stays that of the decoder before."""
    view = search_view(prompt=(0, 1))
    control(view, "Parameters").value = TRAINED
    ranked, _ = rank_continuations(TRAINED.model, (0, 1), 4)
    rows = body(view, "Three ways to choose among 2,401 continuations")
    assert rows[1][1] == decode(ranked[0])


def test_views_of_one_state_agree() -> None:
    """Bug: a control sets its own view only."""
    state = State()
    one, other = search_view(state), search_view(state)
    control(one, "Beam width").value = 5
    assert control(other, "Beam width").value == 5
    assert page(one) == page(other)


def test_a_wider_beam_can_be_set_from_the_start() -> None:
    """Bug: the lesson's beam is not offered the width that finds the best, or a wider one is cut to it."""
    view = search_view(beam_width=20)
    assert control(view, "Beam width").value == view.state.situation.beam_width == 20
    narrow = search_view()
    assert control(narrow, "Beam width").max == 12
    narrow.state.change(beam_width=12)
    assert "finds the most probable one" in said(narrow)
    narrow.state.change(beam_width=20)
    assert control(narrow, "Beam width").value == narrow.state.situation.beam_width == 20


def test_a_full_context_is_said() -> None:
    """Bug: a prompt that fills the context leaves a traceback, or an empty space without a word."""
    view = search_view(context_length=3)
    assert "no room for a continuation" in said(view)
    assert "no room for a continuation" in text(view)
    assert "prompt" in str(view.picture(view.state.situation).get_label())


def test_a_vocabulary_of_hundreds() -> None:
    """Bug: hundreds of boxes, a word that runs out of its box, or a tree that is cut without a word."""
    words = Vocabulary(tuple(f"incomprehensible{i}" for i in range(300)))
    decoder = Decoder("large", CausalLanguageModel(n_vocab=300, seed=1), words)
    view = search_view(State((decoder,), prompt=(0, 299)))
    boxes = len(of_class(view, "box")) + len(of_class(view, "box kept"))
    assert boxes < 30
    assert "300 tokens to choose from" in text(view)
    in_boxes = [text for text in texts(view, "strong", "") if "incompre" in text]
    assert len(in_boxes) == boxes
    assert {len(text) for text in in_boxes} == {9}


def test_without_a_widget_there_are_picture_tables_and_words() -> None:
    """Bug: GitHub and PDF readers get an empty cell, or a picture of other paths."""
    view = search_view(decoder=TRAINED, prompt=(0, 1), beam_width=2)
    label = str(view.picture(view.state.situation).get_label())
    assert "greedy: cat 0.5102, sat" in label
    assert "most probable, best in the beam: dog" in label
    bundle, _ = view._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert bundle["text/plain"] == tree_of(view.state.situation).sentence
    assert "Three ways to choose" in bundle["text/html"]
    assert "<img " in bundle["text/html"]
