"""What axe-core finds in a page of JupyterLab that keeps somebody out."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

# What JupyterLab itself gets wrong and no notebook can change: by rule, the elements that it does with.
OF_JUPYTERLAB = {
    "aria-input-field-name": ".cm-content",  # a cell's editor has no name
    "aria-required-children": ".jp-WindowedPanel-viewport",  # the list of cells holds a label of its own
    "button-name": ".jp-collapseHeadingButton",  # the button that folds a section has no name
    "color-contrast": ".jp-InputPrompt, .jp-OutputPrompt, .cm-content *",  # run numbers, numbers in code
    "link-in-text-block": ".jp-MarkdownOutput a",  # links in text are not underlined
}
OWN = """([found, own]) => found.filter(
  ([rule, place]) => !(rule in own && document.querySelector(place).matches(own[rule]))
)"""


def violations(page: Page, part: str) -> list[list[str]]:
    """The rule, the place and the element of each violation within a part, JupyterLab's own left out."""
    # JupyterLab's body is of no height, and axe takes all text that stands in such a one for hidden.
    page.add_style_tag(content="body { height: 100vh; }")
    rules = Axe().run(page, context=part).response["violations"]
    found = [[rule["id"], node["target"][0], node["html"]] for rule in rules for node in rule["nodes"]]
    return page.evaluate(OWN, [found, OF_JUPYTERLAB])
