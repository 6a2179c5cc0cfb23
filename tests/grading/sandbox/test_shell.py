"""Cells run as they did for the student: magics, plots, displays and widgets."""

from __future__ import annotations

from typing import Any

import nbformat
import pytest

from course.grading.sandbox import Worker


def outputs(worker: Worker, source: str) -> list[dict[str, Any]]:
    """The outputs of a cell, which a notebook file can hold."""
    found = worker.run_cell(source, 20).outputs
    for output in found:
        nbformat.validate(nbformat.from_dict(output), ref=output["output_type"], version=4, version_minor=5)
    return found


@pytest.mark.parametrize(
    ("source", "kind", "holds"),
    [
        ("1 + 1", "execute_result", "'2'"),
        ("1 + 1;", "", ""),
        ("print('a'); print('b')", "stream", "a\\nb\\n"),
        ("import sys; print('x', file=sys.stderr)", "stream", "stderr"),
        ("1 / 0", "error", "ZeroDivisionError"),
        ("def f(:", "error", "SyntaxError"),
        ("raise SystemExit", "error", "SystemExit"),
        ("import matplotlib.pyplot as plt\nplt.plot([1, 2]);", "display_data", "image/png"),
        ("%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1])", "execute_result", "Line2D"),
        ("%timeit -n1 -r1 1", "stream", "per loop"),
        ("%%time\n3", "execute_result", "'3'"),
        ("!echo hello", "stream", "hello"),
        ("%%bash\necho hello", "stream", "hello"),
        ("from IPython.display import HTML\nHTML('<b>x</b>')", "execute_result", "<b>x</b>"),
        ("import ipywidgets\nipywidgets.IntSlider()", "execute_result", "IntSlider"),
        ("len?", "stream", "number of items"),
        ("await __import__('asyncio').sleep(0, 5)", "execute_result", "'5'"),
        ("input('name?')", "error", "EOFError"),
        ("exit()", "", ""),
        ("from decoder_lib import load\nload('trained')", "execute_result", "CausalLanguageModel"),
    ],
)
def test_a_cell_behaves_as_in_a_notebook(worker: Worker, source: str, kind: str, holds: str) -> None:
    """Bug: a magic, a plot or a widget that worked for the student fails while it is graded."""
    found = outputs(worker, source)
    assert [output for output in found if output["output_type"] == kind and holds in str(output)] or not (
        kind or found
    )


def test_cells_share_a_namespace_and_count(worker: Worker) -> None:
    """Bug: names of one cell are not there in the next, or In and Out are."""
    outputs(worker, "a = 5")
    assert outputs(worker, "a")[0]["data"]["text/plain"] == "5"
    assert outputs(worker, "_ + len(In)")[0]["data"]["text/plain"] == "9"


def test_clear_output_clears(worker: Worker) -> None:
    """Bug: an animation leaves all its frames in the feedback."""
    source = "from IPython.display import clear_output\nfor i in range(5): clear_output(wait=True); print(i)"
    assert outputs(worker, source) == [{"output_type": "stream", "name": "stdout", "text": "4\n"}]


@pytest.mark.parametrize("shows", ["display(shown)", "shown"])
def test_what_is_shown_in_words_is_not_drawn(worker: Worker, shows: str) -> None:
    """Bug: most of the time of a class goes into pictures that are the same for everybody."""
    setup = """from decoder_lib.plots.picture import Picture
drawn = []
class Watched(Picture):
    @property
    def png(self):
        drawn.append(self.alternative)
        return b"png"
import matplotlib.pyplot as plt
shown = Watched(plt.figure(), "a curve")
plt.close()"""
    outputs(worker, setup)
    [in_words] = worker.run_cell(shows, 20, in_words=True).outputs
    assert in_words["data"] == {"text/plain": "a curve"}
    assert outputs(worker, "len(drawn)")[0]["data"]["text/plain"] == "0"
    assert "image/png" in outputs(worker, shows)[0]["data"]


def test_a_view_in_words_is_a_sentence(worker: Worker) -> None:
    """Bug: a live view is drawn for a page that shows no picture."""
    setup = """from decoder_lib.plots.picture import Picture
from decoder_lib.widgets import generation_explorer
Picture.png = property(lambda picture: 1 / 0)"""
    outputs(worker, setup)
    [in_words] = worker.run_cell("generation_explorer()", 20, in_words=True).outputs
    assert in_words["data"].keys() == {"text/plain"}
    assert "Not finished" in in_words["data"]["text/plain"]
