"""The live views where no widget can run: a page, a typeset document and a terminal."""

import re
import subprocess
import sys
from html.parser import HTMLParser

import nbformat
import pytest
from execution import MASTERS, ROOT, run

from course.building.versions import for_nbgrader

VIEWS = {
    2: "generation_explorer",
    5: "generation_explorer",
    6: "chain_rule_view",
    7: "search_view",
    9: "cache_view",
    10: "cache_view",
    11: "batch_view",
    12: "batch_view",
    13: "window_view",
}
SECTION = "07-greedy-is-local"


class Page(HTMLParser):
    """Where a page's code cells and their views, images and captions of tables stand."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.pictures: list[str] = []
        self.captions: list[str] = []
        self._in_caption = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "img":
            self.pictures.append(dict(attrs).get("alt") or "")
        if tag == "caption":
            self.captions.append("")
            self._in_caption = True

    def handle_endtag(self, tag: str) -> None:
        self._in_caption = self._in_caption and tag != "caption"

    def handle_data(self, data: str) -> None:
        if self._in_caption:
            self.captions[-1] += data


def converted(folder) -> str:
    """A section as nbconvert makes it, run on the way. The option is the README's."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (option,) = set(re.findall(r"--ExecutePreprocessor[\w.=]+", readme))
    command = [
        *(sys.executable, "-m", "jupyter", "nbconvert", "--to", "html", "--execute", "--allow-errors"),
        *(option, f"--output-dir={folder}", f"notebooks/{SECTION}.ipynb"),
    ]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=120)
    return (folder / f"{SECTION}.html").read_text(encoding="utf-8")


def test_a_page_made_by_nbconvert_shows_table_and_picture(tmp_path):
    """Bug: an empty space in the page, where a widget would come from another host."""
    page = Page(converted(tmp_path))
    assert "What a beam of width 3 keeps after each token" in page.captions
    assert any("most probable" in alternative for alternative in page.pictures)
    assert "" not in page.pictures


@pytest.mark.parametrize("number", VIEWS)
def test_a_section_s_view_can_do_without_a_widget(number, tmp_path):
    """Bug: a view was lost from its section, or a PDF, GitHub or a terminal finds nothing to show of it."""
    (master,) = (master for name, master in MASTERS.items() if name.startswith(f"{number:02}-"))
    notebook = for_nbgrader(master)
    place = next(i for i, cell in enumerate(notebook.cells) if cell.source.startswith(VIEWS[number]))
    text = "\n".join(cell.source for cell in notebook.cells[:place] if cell.cell_type == "markdown")
    assert "**Predict, then try.**" in text[text.rindex("\n> **Predict") :]
    set_up = next(cell for cell in notebook.cells if "grade_id" in cell.metadata.get("nbgrader", {}))
    notebook.cells = [set_up, notebook.cells[place]]
    (output,) = run(notebook, tmp_path).cells[1].outputs
    assert output.output_type == "execute_result"
    assert output.data["application/vnd.jupyter.widget-view+json"]["model_id"]
    assert output.data["image/png"].startswith("iVBOR")
    assert len(output.data["text/plain"].split()) > 5
    page = Page(output.data["text/html"])
    assert page.pictures == [output.metadata["image/png"]["alt"]] != [""]
    assert page.captions or number == 2  # that run stands at its prompt: nothing has been selected
    assert re.search(r"<table|<ol", output.data["text/html"])
    nbformat.validate(notebook)
