"""A year's changes to a section, in JupyterLab: every answer and every cell of the reader's is there."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from lab import Lab
from playwright.sync_api import Page, expect

from course.building.master import Master
from course.building.masters import read_masters
from course.building.versions import for_self_study, for_students
from course.files import ROOT
from coursework.folder import EARLIER, update

SECTION = "05-append-then-predict"
SOLUTION = (ROOT / "tests/submissions/correct/generation_loop/while_loop.py").read_text(encoding="utf-8")
NEW_TEXT, NOTE = "This paragraph is new this year.", "My own note on the first turn of the loop."
CELLS = ".jp-Notebook .jp-Cell"


def a_year_later(master: Master) -> Master:
    """The section with a changed text, a new cell, a moved one, one less, and another question."""
    notebook = copy.deepcopy(master.notebook)
    texts = [
        cell for cell in notebook.cells if cell.cell_type == "markdown" and "nbgrader" not in cell.metadata
    ]
    plain = [
        cell for cell in texts if not cell.id.startswith(("navigation", "question")) and not cell.metadata
    ]
    changed, removed, moved = plain[1], plain[2], plain[3]
    changed.source += "\n\nThis sentence was added."
    changed["id"] = "f00dfeed0000"  # an id is made from the text
    notebook.cells.remove(removed)
    notebook.cells.remove(moved)
    notebook.cells.append(moved)
    new = {"cell_type": "markdown", "id": "f00dfeed0001", "metadata": {}, "source": NEW_TEXT}
    notebook.cells.insert(3, nbformat.from_dict(new))
    for cell in notebook.cells:
        if cell.id == "question-one-draw-text":
            cell.source += "\n\nThink of the prefix."
    return Master(master.assignment, master.name, notebook)


@pytest.mark.parametrize("version", [for_self_study, for_students])
def test_a_years_changes_keep_every_answer(
    lab: Lab, page: Page, tmp_path: Path, version: Callable[[Master], Any]
) -> None:
    """Bug: a reader pulls the course of the next year, and finds stubs where the solutions were."""
    (master,) = (each for each in read_masters(ROOT) if each.name == SECTION)
    folder, name = lab.folder / tmp_path.name, f"{SECTION}.ipynb"
    update(folder, {name: version(master)})
    work(folder / name)
    report = update(folder, {name: version(a_year_later(master))})
    assert "in the new notebook" in str(report)
    assert len(list((folder / EARLIER).iterdir())) == 1

    lab.open_notebook(page, f"{folder.name}/{name}")
    lab.run_all(page)
    order = page.evaluate(
        "() => jupyterapp.shell.currentWidget.content.model.sharedModel.cells.map(cell => cell.getSource())"
    )
    assert order.count(SOLUTION.strip()) == 1
    assert not any("raise NotImplementedError" in text for text in order)
    assert order[order.index(NOTE) - 1].startswith("# 5. ")
    assert NEW_TEXT in order
    expect(page.locator(CELLS).first).to_be_visible()
    if version is for_self_study:
        cards = page.locator(".jp-OutputArea-output .course-card")
        expect(cards.last).to_contain_text("Challenge 1 so far: 10 of 10 points, 8 of 8 checks passed.")
        return
    (before,) = (text for text in order if "Your earlier answer" in text)
    assert 'answer_one_draw = "B"' in before
    assert order[order.index(before) - 1].endswith("answer_one_draw = None")
    shown = page.locator(CELLS, has_text="The question above has changed.")
    shown.scroll_into_view_if_needed()
    expect(shown).to_be_visible()


def work(path: Path) -> None:
    """Solve the challenge, answer the question where a notebook asks it, and add a note."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.id == "generation-loop":
            cell.source = SOLUTION.strip()
        if cell.id == "question-one-draw":
            cell.source = cell.source.replace("= None", '= "B"')
    title = next(index for index, cell in enumerate(notebook.cells) if cell.source.startswith("# 5. "))
    notebook.cells.insert(title + 1, nbformat.v4.new_markdown_cell(NOTE))
    nbformat.write(notebook, path)
