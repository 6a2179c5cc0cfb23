"""Every notebook of self-study as a reader meets it: opened, run to its end, looked at."""

import re

import nbformat
import pytest
from accessibility import violations
from lab import ROOT, Lab
from playwright.sync_api import Page, expect

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
STUB = "write your solution here, then run this cell again"
WORKED = re.compile(r"<summary>A worked solution.*?```python\n(.*?)```", re.DOTALL)
# JupyterLab shows a traceback, and whatever else goes to stderr, under this type.
ERROR = '[data-mime-type="application/vnd.jupyter.stderr"]'


def solved(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """With the worked solution that is folded in below each stub typed into it."""
    stub = None
    for cell in notebook.cells:
        worked = WORKED.search(cell.source)
        if cell.cell_type == "code" and STUB in cell.source:
            stub = cell
        elif stub is not None and worked:
            stub.source, stub = worked[1], None
    assert STUB not in "".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    return notebook


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs_to_its_end_and_keeps_nobody_out(lab: Lab, page: Page, path) -> None:
    """Bug: a notebook that needs another host, runs under nbclient alone, or shuts somebody out."""
    notebook = solved(nbformat.read(path, as_version=4))
    (lab.folder / "solved").mkdir(exist_ok=True)
    nbformat.write(notebook, lab.folder / "solved" / path.name)
    lab.open_notebook(page, f"solved/{path.name}")
    lab.run_all(page)
    panel = page.locator(".jp-NotebookPanel-notebook")
    # Taller than the notebook, or JupyterLab gives no layout to what is outside of the window.
    height = panel.locator(".jp-WindowedPanel-inner").evaluate("inner => inner.scrollHeight")
    page.set_viewport_size({"width": 1366, "height": height + 400})
    source = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    views = len(re.findall(r"^(?:\w+_view|generation_explorer)\(", source, re.MULTILINE))
    expect(panel.locator(".gen-view [role=status]")).to_have_count(views)
    for widget in panel.locator(".jp-OutputArea-output .jupyter-widgets-view").all():
        expect(widget).not_to_be_empty()
    expect(panel.locator(ERROR)).to_have_count(0)
    alternatives = [picture.get_attribute("alt") for picture in panel.locator("img").all()]
    assert all(alternatives), alternatives
    expect(panel).not_to_contain_text("Error displaying widget")
    expect(panel).not_to_contain_text("Loading widget")
    assert violations(page, ".jp-NotebookPanel-notebook") == []
