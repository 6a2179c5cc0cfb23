"""A live view in a page of JupyterLab: what it shows, and how a reader gets at its controls."""

import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from lab import IDLE, Lab
from playwright.sync_api import Page, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeoutError

PATIENCE = 10_000  # milliseconds
PAUSE = 100  # milliseconds that a quick reader leaves between two presses
SCRIPT = Path(__file__).with_name("live.js")  # what the page says of a view


class LiveView:
    """The only view of a notebook.

    seen : the names of all controls that it has shown so far.
    used : those that somebody has used.
    """

    def __init__(self, page: Page) -> None:
        self.page = page
        self.widget = page.locator(".gen-view")
        self.widget.locator("[role=status]").wait_for()
        if not page.evaluate("'shownBy' in window"):  # of an earlier view in the same page
            page.add_script_tag(path=SCRIPT)
        self.seen: set[str] = set()
        self.used: set[str] = set()

    def shown(self) -> dict[str, Any]:
        """What it shows now."""
        return self.widget.evaluate("view => window.shownBy(view)")

    def expect(self, **wanted: Any) -> None:
        """Wait until it shows this.

        said, problem : its sentence, and what it complains of.
        tables : each as its caption and its rows of texts.
        lists : each as its label and its items.
        pictures : their alternatives.
        notes, drawn : some of the paragraphs, and some of the words in pictures.
        ticked : the buttons with a tick.
        values : of some controls, by their names.
        """
        argument = json.loads(json.dumps(wanted))
        with contextlib.suppress(PlaywrightTimeoutError):  # the assertion says what is different
            self.page.wait_for_function(
                "wanted => window.agrees(document.querySelector('.gen-view'), wanted)",
                arg=argument,
                timeout=PATIENCE,
            )
        shown = self.shown()
        self.seen |= set(shown["controls"])
        if "values" in wanted:
            shown["values"] = {name: shown["values"].get(name) for name in argument["values"]}
        for part in {"notes", "drawn"} & wanted.keys():
            shown[part] = [words for words in argument[part] if words in shown[part]]
        assert {part: shown[part] for part in argument} == argument

    def expect_all_used(self) -> None:
        """Somebody has used every control that it has shown."""
        assert self.seen - self.used == set()


def open_view(lab: Lab, page: Page, call: str, *, setup: str = "") -> LiveView:
    """A notebook with one view, run."""
    source = "\n".join(["from decoder_lib.widgets import *", setup, call])
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, lab.folder / "view.ipynb")
    lab.open_notebook(page, "view.ipynb")
    lab.run_all(page)
    return LiveView(page)


class Mouse:
    """A reader with a mouse, who types only where there is no other way."""

    def __init__(self, view: LiveView) -> None:
        self.view, self.page = view, view.page

    def press(self, name: str) -> None:
        """A button."""
        self.view.used.add(name)
        self.view.widget.get_by_role("button", name=name, exact=True).click()

    def choose(self, name: str, option: str) -> None:
        """From a list. The browser draws it outside of the page, where no test can click."""
        field = self._find(name)
        place = field.evaluate("window.stepsTo", option) + field.evaluate("list => list.selectedIndex")
        field.select_option(index=place)

    def count(self, name: str, value: int, *, step: float = 1) -> None:
        """Click on a number's arrows until it is `value`."""
        field = self._find(name)
        now = float(field.input_value())
        field.hover()
        box = field.bounding_box()
        assert box is not None
        for _ in range(round(abs(value - now) / step)):
            height = box["height"] * (0.3 if value > now else 0.7)
            field.click(position={"x": box["width"] - 10, "y": height})

    def write(self, name: str, text: str) -> None:
        """A text, and click elsewhere."""
        self._find(name).click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(text)
        self.view.widget.locator("[role=status]").click()

    def tick(self, name: str) -> None:
        """A box, or take its tick away."""
        self._find(name).click()

    def _find(self, name: str):
        self.view.used.add(name)
        return self.view.widget.get_by_label(name, exact=True)


class Keyboard:
    """A reader without a mouse: comes by Tab, and goes on from where the focus is."""

    def __init__(self, view: LiveView) -> None:
        self.view, self.page = view, view.page
        self._keys = ["Enter", "Space"]  # both press a button

    def press(self, name: str) -> None:
        """A button."""
        self._go(name)
        self._keys.reverse()
        self.page.keyboard.press(self._keys[0])

    def choose(self, name: str, option: str) -> None:
        """From a list, which Space opens: of a closed one, JupyterLab takes the arrows for itself."""
        self._go(name)
        steps = self.view.widget.locator(":focus").evaluate("window.stepsTo", option)
        self.page.keyboard.press("Space")
        self.page.wait_for_function("() => document.activeElement.matches(':open')", timeout=PATIENCE)
        for _ in range(abs(steps)):
            self.page.keyboard.press("ArrowDown" if steps > 0 else "ArrowUp")
        self.page.keyboard.press("Enter")

    def count(self, name: str, value: int, *, step: float = 1) -> None:
        """Step through a number by the arrow keys until it is `value`."""
        self._go(name)
        now = float(self.view.widget.locator(":focus").input_value())
        for _ in range(round(abs(value - now) / step)):
            self.page.keyboard.press("ArrowUp" if value > now else "ArrowDown")
            self.page.wait_for_timeout(PAUSE)
            # On a busy machine the front end has lost the second of two presses made at once.
            self.page.wait_for_selector(IDLE, timeout=PATIENCE)

    def write(self, name: str, text: str) -> None:
        """A text, and Enter; in a box of several lines that would be one more, so Tab."""
        self._go(name)
        several = self.view.widget.locator("textarea:focus").count()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(text)
        self.page.keyboard.press("Tab" if several else "Enter")

    def tick(self, name: str) -> None:
        """A box, or take its tick away."""
        self._go(name)
        self.page.keyboard.press("Space")

    def _go(self, name: str) -> None:
        self.view.used.add(name)
        inside = "() => document.querySelector('.gen-view').contains(document.activeElement)"
        if not self.page.evaluate(inside):
            # From the cell that was run; or from a control that has gone, and then back to where it was.
            on_cell = "() => document.activeElement.matches('.jp-Cell')"
            key = "Tab" if self.page.evaluate(on_cell) else "Shift+Tab"
            for _ in range(3):  # the cell's own toolbar comes first
                self.page.keyboard.press(key)
                if self.page.evaluate(inside):
                    break
        self.page.wait_for_function(  # it may have been switched on just now
            "name => window.named(document.querySelector('.gen-view'), name)", arg=name, timeout=PATIENCE
        )
        presses = self.view.widget.evaluate("(view, name) => window.presses(view, name)", name)
        for _ in range(abs(presses)):
            self.page.keyboard.press("Tab" if presses > 0 else "Shift+Tab")
        assert self.page.evaluate("() => window.focused()") == name


Reader = Mouse | Keyboard


def play_and_pause(reader: Reader, look_at_the_end: Callable[[], None]) -> None:
    """Play to the end, and look; then play again, and pause at once."""
    pause = reader.view.widget.get_by_role("button", name="Pause", exact=True)
    reader.press("Play")
    look_at_the_end()
    expect(pause).to_be_hidden()
    reader.press("Play")
    expect(pause).to_be_visible()
    reader.press("Pause")
    expect(pause).to_be_hidden()


BOTH = pytest.mark.parametrize("hand", [Mouse, Keyboard], ids=["mouse", "keyboard"])
