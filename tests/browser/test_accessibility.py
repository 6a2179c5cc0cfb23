"""The live views for those who see little, have a narrow window, or prefer a dark one."""

import nbformat
import pytest
from accessibility import violations
from lab import Lab
from playwright.sync_api import Page, expect
from runs import LARGE

VIEWS = {
    "generation explorer": "generation_explorer(step=3, branch=(1, 4), on_branch=True)",
    "generation explorer, many words": "generation_explorer(large, step=2)",
    "chain-rule view": "chain_rule_view()",
    "search view": "search_view(beam_width=3)",
    "search view, trained": "search_view(decoder='trained', beam_width=7)",
    "cache view": "cache_view(step=3, edit=(2, 3))",
    "batch view": "batch_view(max_new_tokens=12)",
    "window view": "window_view()",
}
SETUP = f"{LARGE}\nfrom decoder_lib.widgets import *"
# The elements that reach out of a view's cell; what is scrolled has bounds of its own.
SPILLED = """view => {
  const right = view.closest('.jp-OutputArea-output').getBoundingClientRect().right + 1;
  const scrolled = element => element.parentElement.closest('.scroll') !== null;
  return [...view.querySelectorAll('*')]
    .filter(element => element.checkVisibility() && !scrolled(element))
    .filter(element => element.getBoundingClientRect().right > right)
    .map(element => element.outerHTML.slice(0, 200));
}"""


def show(lab: Lab, page: Page) -> None:
    """A notebook with a cell a view, run, in a window that is taller than it."""
    cells = [nbformat.v4.new_code_cell(source) for source in (SETUP, *VIEWS.values())]
    notebook = nbformat.v4.new_notebook(cells=cells)
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, lab.folder / "views.ipynb")
    lab.open_notebook(page, "views.ipynb")
    page.set_viewport_size({"width": 1366, "height": 12_000})
    lab.run_all(page)
    expect(page.locator(".gen-view [role=status]")).to_have_count(len(VIEWS))


@pytest.mark.parametrize("color_scheme", ["light", "dark"])
def test_the_views_keep_nobody_out(lab: Lab, page: Page, color_scheme: str) -> None:
    """Bug: grey on grey in one of the themes, a control without a name, a button outside of a narrow page."""
    show(lab, page)
    light = str(color_scheme == "light").lower()
    expect(page.locator("body")).to_have_attribute("data-jp-theme-light", light)
    assert violations(page, ".gen-view") == []
    page.keyboard.press("Control+b")
    expect(page.locator("#filebrowser")).to_be_hidden()
    page.set_viewport_size({"width": 360, "height": 20_000})
    page.wait_for_function("() => document.querySelector('.gen-view').clientWidth < 360")
    spilled = [view.evaluate(SPILLED) for view in page.locator(".gen-view").all()]
    assert {name: found for name, found in zip(VIEWS, spilled, strict=True) if found} == {}
