"""A newer version of a notebook with a reader's work in it."""

import copy
from typing import Any

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coursework.merge import merge
from coursework.origin import KEY, is_as_made, parse, sign, to_bytes


def cell(name: str, source: str, kind: str = "markdown", **metadata: Any) -> dict[str, Any]:
    made = {"cell_type": kind, "id": name, "metadata": metadata, "source": source}
    return made | ({"execution_count": None, "outputs": []} if kind == "code" else {})


def notebook(
    *cells: dict[str, Any],
    name: str = "05-append-then-predict",
    answers: tuple[str, ...] = ("loop", "question-draw"),
) -> Any:
    """A notebook as the course makes it; `loop` and `question-draw` are for answers."""
    made = nbformat.from_dict(
        {"cells": [*map(copy.deepcopy, cells)], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    )
    return sign(made, name, answers)


TITLE = cell("title", "# Append, then predict")
DEMO = cell("demo", "run = generate(seed=0)", "code")
ASKED = cell("question-draw-text", "How many draws does one step take? A: one. B: two.")
DRAW = cell("question-draw", "answer_draw = None", "code")
LOOP = cell("loop", "def generate():\n    raise NotImplementedError", "code")
LAST = cell("last", "Next comes the chain rule.")
COURSE = notebook(TITLE, DEMO, ASKED, DRAW, LOOP, LAST)


def worked(of: Any = COURSE, **texts: str) -> Any:
    """A reader's copy, with some cells' texts changed."""
    mine = parse(to_bytes(of))
    for each in mine.cells:
        each.source = texts.get(each.id.replace("-", "_"), each.source)
    return mine


def own(source: str, kind: str = "code") -> Any:
    return nbformat.from_dict(cell("3f0c-own", source, kind))


def sources(of: Any) -> list[str]:
    return [each.source for each in of.cells]


def test_an_answer_and_an_experiment_stay_in_their_cells():
    """Bug: an update hands out stubs again, or takes back the seed that a reader tried."""
    mine = worked(
        loop="def generate():\n    return 1", demo="run = generate(seed=7)", question_draw="answer_draw = 'A'"
    )
    new = notebook(TITLE | {"source": "# Append, then predict again"}, DEMO, ASKED, DRAW, LOOP, LAST)
    merged = merge(mine, new)
    assert sources(merged.notebook) == [
        "# Append, then predict again", "run = generate(seed=7)", ASKED["source"], "answer_draw = 'A'",
        "def generate():\n    return 1", LAST["source"],
    ]  # fmt: skip
    assert (merged.answers, merged.edited, merged.own, merged.outdated) == (2, 1, 0, [])


def test_own_cells_follow_the_cell_they_stood_behind_wherever_it_moves():
    """Bug: a note that belongs to the loop is found below the title after the loop has moved."""
    mine = worked()
    mine.cells.insert(5, own("my note on the loop", "markdown"))
    mine.cells.insert(0, own("above everything"))
    new = notebook(TITLE, LOOP, DEMO, ASKED, DRAW, LAST)
    assert sources(merge(mine, new).notebook) == [
        "above everything", TITLE["source"], LOOP["source"], "my note on the loop", DEMO["source"],
        ASKED["source"], DRAW["source"], LAST["source"],
    ]  # fmt: skip


def test_an_answer_to_a_question_that_changed_is_shown_beside_it_and_not_in_it():
    """Bug: "B" answers another question than the reader was asked, and counts."""
    mine = worked(question_draw="answer_draw = 'B'")
    new = notebook(TITLE, DEMO, ASKED | {"source": "How many draws? A: two. B: one."}, DRAW, LOOP, LAST)
    merged = merge(mine, new)
    assert merged.outdated == ["question-draw"]
    assert merged.notebook.cells[3].source == "answer_draw = None"
    assert "answer_draw = 'B'" in merged.notebook.cells[4].source
    assert merged.notebook.cells[4].cell_type == "markdown"
    again = merge(merged.notebook, notebook(DEMO, ASKED, DRAW, LOOP, LAST))
    assert any("answer_draw = 'B'" in text for text in sources(again.notebook))


def test_where_the_course_and_the_reader_changed_a_cell_both_are_there():
    """Bug: the reader's version hides a correction, or the correction deletes the reader's version."""
    new = notebook(TITLE, DEMO | {"source": "run = generate(seed=0, end_id=6)"}, ASKED, DRAW, LOOP, LAST)
    merged = merge(worked(demo="run = generate(seed=7)"), new).notebook
    assert sources(merged)[1:3] == ["run = generate(seed=0, end_id=6)", "run = generate(seed=7)"]
    assert KEY not in merged.cells[2].metadata


def test_work_in_a_cell_that_was_removed_stays_as_a_cell_of_the_readers_own():
    """Bug: a challenge is dropped from the course, and a reader's solution with it."""
    merged = merge(worked(loop="def generate():\n    return 1"), notebook(TITLE, DEMO, ASKED, DRAW, LAST))
    assert sources(merged.notebook)[-2:] == ["def generate():\n    return 1", LAST["source"]]
    unworked = merge(worked(), notebook(TITLE, DEMO, ASKED, DRAW, LAST))
    assert LOOP["source"] not in sources(unworked.notebook)


def test_a_reworded_cell_with_another_id_holds_the_place_of_the_old_one():
    """Bug: a text's id is made from its words, so notes on a reworded text lose their place."""
    mine = worked()
    mine.cells.insert(6, own("my note on what comes next", "markdown"))
    reworded = cell("last-2", "Next, there comes the chain rule.")
    new = notebook(reworded, TITLE, DEMO, ASKED, DRAW, LOOP)
    assert sources(merge(mine, new).notebook)[:2] == [reworded["source"], "my note on what comes next"]


def test_outputs_stay_with_the_code_that_made_them():
    """Bug: a reader's pictures vanish at an update, or stand below code that never made them."""
    mine = worked()
    shown = nbformat.from_dict({"output_type": "stream", "name": "stdout", "text": "seven\n"})
    for each in mine.cells:
        if each.cell_type == "code":
            each.outputs, each.execution_count = [shown], 3
    new = notebook(
        TITLE, DEMO, ASKED, DRAW, LOOP | {"source": "def generate(x):\n    raise NotImplementedError"}, LAST
    )
    merged = {each.id: each for each in merge(mine, new).notebook.cells}
    assert merged["demo"].outputs == [shown]
    assert merged["loop"].outputs == []


def test_an_editor_that_drops_metadata_or_ids_loses_nothing():
    """Bug: what was worked on elsewhere is taken for cells of the reader's own, beside fresh stubs."""
    for dropped in ("metadata", "id"):
        mine = worked(loop="def generate():\n    return 1")
        for each in mine.cells:
            if dropped == "id":
                del each["id"]
            else:
                each.metadata = nbformat.from_dict({})
        mine.nbformat_minor = 4 if dropped == "id" else 5
        merged = merge(mine, notebook(DEMO, ASKED, DRAW, LOOP, LAST)).notebook
        assert sources(merged).count("def generate():\n    return 1") == 1
        assert LOOP["source"] not in sources(merged)


def test_of_two_copies_the_one_that_was_worked_on_last_is_the_answer_and_the_other_stays():
    """Bug: a pasted cell makes an update lose one of two attempts."""
    mine = worked(loop="def generate():\n    return 1")
    pasted = copy.deepcopy(mine.cells[4])
    pasted["id"], pasted.source = "pasted", "def generate():\n    return 2"
    mine.cells.insert(5, pasted)
    merged = merge(mine, notebook(DEMO, ASKED, DRAW, LOOP, LAST)).notebook
    answers = [each.source for each in merged.cells if each.source.startswith("def")]
    assert sorted(answers) == ["def generate():\n    return 1", "def generate():\n    return 2"]
    (answer,) = (each for each in merged.cells if each.id == "loop")
    assert answer.source == "def generate():\n    return 2"


def test_a_notebook_from_before_cells_were_signed_is_taken_over():
    """Bug: the first update that knows of digests takes all cells for the reader's own, or drops them."""
    mine = worked(loop="def generate():\n    return 1", question_draw="answer_draw = 'A'")
    mine.metadata.pop(KEY)
    for each in mine.cells:
        each.metadata.pop(KEY)
    mine.cells.insert(2, own("tried = 7"))
    merged = merge(mine, COURSE)
    wanted = worked(loop="def generate():\n    return 1", question_draw="answer_draw = 'A'")
    wanted.cells.insert(2, own("tried = 7"))
    assert sources(merged.notebook) == sources(wanted)


TEXTS = st.sampled_from(["", "x = 1", "a note", "# Append, then predict", "def generate():\n    return 2"])
CHANGE = st.one_of(
    st.tuples(st.just("edit"), st.integers(0, 9), TEXTS),
    st.tuples(st.just("add"), st.integers(0, 9), TEXTS),
    st.tuples(st.just("delete"), st.integers(0, 9), TEXTS),
    st.tuples(st.just("copy"), st.integers(0, 9), TEXTS),
    st.tuples(st.just("move"), st.integers(0, 9), TEXTS),
)


def changed(of: Any, changes: list[tuple[str, int, str]]) -> tuple[Any, set[str]]:
    """A reader's copy after some changes, and the texts in it that are the reader's."""
    mine = parse(to_bytes(of))
    for number, (what, place, text) in enumerate(changes):
        index = place % max(len(mine.cells), 1)
        if what == "add" or not mine.cells:
            mine.cells.insert(
                index, nbformat.from_dict(cell(f"own-{number}", f"{text} # own {number}", "code"))
            )
        elif what == "edit":
            mine.cells[index].source = f"{text} # edit {number}"
        elif what == "delete":
            del mine.cells[index]
        elif what == "copy":
            again = copy.deepcopy(mine.cells[index])
            again["id"] = f"copy-{number}"
            mine.cells.append(again)
        else:
            mine.cells.append(mine.cells.pop(index))
    return mine, {each.source for each in mine.cells if " # " in each.source}


@settings(max_examples=150, deadline=None)
@given(
    st.lists(CHANGE, max_size=6),
    st.permutations([TITLE, DEMO, ASKED, DRAW, LOOP, LAST]),
    st.lists(
        st.sampled_from(["title", "demo", "question-draw-text", "question-draw", "loop", "last"]), max_size=3
    ),
    st.lists(st.sampled_from(["title", "demo", "question-draw-text", "loop"]), max_size=2),
)
def test_whatever_changed_on_both_sides_no_text_of_the_readers_is_lost(changes, order, removed, reworded):
    """Bug: some order of edits, copies, moves and corrections loses a cell, an id is there twice, or a second
    update of the same notebook changes it again.
    """
    mine, texts = changed(COURSE, changes)
    cells = [
        each | ({"source": each["source"] + "\n\nCorrected."} if each["id"] in reworded else {})
        for each in order
        if each["id"] not in removed
    ]
    new = notebook(*cells)
    before = to_bytes(mine)
    merged = merge(mine, new).notebook
    assert to_bytes(mine) == before
    assert is_as_made(new)
    everything = "\n".join(sources(merged))
    assert all(text in everything for text in texts)
    assert {each["id"] for each in cells} <= {each.id for each in merged.cells}
    ids = [each.id for each in merged.cells]
    assert len(ids) == len(set(ids))
    nbformat.validate(merged)
    again = merge(parse(to_bytes(merged)), new).notebook
    assert sources(again) == sources(merged)


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[]", b'{"cells": 3}', b"\xff\xfe", b'{"nbformat": 4, "metadata": {}, "cells": [{}]}'],
)
def test_what_is_no_notebook_is_told_and_not_merged(data):
    """Bug: a file that was cut off ends the update of all others with a traceback."""
    from coursework.origin import NotANotebookError

    with pytest.raises(NotANotebookError):
        parse(data)


def test_code_that_does_not_say_what_it_was_is_kept_beside_the_courses():
    """Bug: a tool drops our metadata and the ids, and the checks that a student changed are gone."""
    mine = worked(demo="run = generate(seed=7)")
    for number, each in enumerate(mine.cells):
        each.metadata = nbformat.from_dict(
            {"nbgrader": {"grade_id": each.id}} if each.cell_type == "code" else {}
        )
        each["id"] = f"zz{number}"
    new = notebook(TITLE, DEMO | {"source": "run = generate(seed=1)"}, ASKED, DRAW, LAST)
    merged = sources(merge(mine, new).notebook)
    assert merged.index("run = generate(seed=7)") == merged.index("run = generate(seed=1)") + 1


def test_a_picture_in_one_of_the_courses_texts_stays():
    """Bug: an attachment that a reader pasted into a text is dropped when the text is corrected."""
    mine = worked()
    mine.cells[0]["attachments"] = {"loop.png": {"image/png": "aGk="}}
    new = notebook(TITLE | {"source": "# Append, then predict again"}, DEMO, ASKED, DRAW, LOOP, LAST)
    assert merge(mine, new).notebook.cells[0].attachments == mine.cells[0].attachments
