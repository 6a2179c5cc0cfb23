"""Section 5 as a reader meets it."""

import re
from pathlib import Path

import nbformat
from playwright.sync_api import Page

from course.building.masters import read_master

ROOT = Path(__file__).parents[2]
SECTION = "05-append-then-predict"
MASTER = ROOT / "source" / "autoregressive-generation" / f"{SECTION}.md"
# JupyterLab shows a traceback, and whatever else goes to stderr, under this type.
ERROR = '[data-mime-type="application/vnd.jupyter.stderr"]'


def test_solved_section_runs_top_to_bottom(lab, page: Page) -> None:
    """A notebook that runs under nbclient and not in JupyterLab, or a picture without alternative."""
    notebook = read_master(MASTER).notebook
    nbformat.write(notebook, lab.folder / "solved.ipynb")
    lab.open_notebook(page, "solved.ipynb")
    lab.run_all(page)
    assert page.locator(ERROR).count() == 0
    pictures = page.locator(".jp-OutputArea-output img")
    assert pictures.count() == 2
    assert all(re.search(r"dog", picture.get_attribute("alt") or "") for picture in pictures.all())
    passed = page.locator(".jp-OutputArea-output", has_text=re.compile(r"passed: \w"))
    assert passed.count() == 8


def test_self_study_version_stops_at_the_stub_and_says_so(lab, page: Page) -> None:
    """A stub that fails with an error nobody can read."""
    lab.open_notebook(page, f"notebooks/{SECTION}.ipynb")
    lab.run_all(page)
    assert page.locator(ERROR).count() == 1
    # Not inner_text: JupyterLab gives no layout to a cell outside the window.
    assert "write your solution here" in (page.locator(ERROR).text_content() or "")
