"""The controls that walk through the numbered parts of a view which are no steps of the run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets as widgets

from decoder_lib.widgets.controls import WORDS_IN_FULL, button, row


class Walk:
    """A row of buttons and a number; `go` is called with the number that a reader asks for.

    No button is switched off at an end: it would take the keyboard's focus with it.

    name : what is numbered, "round" say.
    """

    def __init__(self, name: str, go: Callable[[int], None]) -> None:
        self._go = go
        self._following = False  # what the view says is shown, and not asked for again
        self._number = widgets.BoundedIntText(
            description=name.capitalize(),
            tooltip=f"Jump to a {name} by its number; arrow up and arrow down walk through them",
            style=WORDS_IN_FULL,
            layout={"width": "8em"},
        )
        self._number.observe(self._asked, names="value")
        self._end = widgets.HTML()
        made = [
            button("Start", "Show the start", lambda: go(self._number.min)),
            button("Back", f"Show the {name} before", lambda: go(self._number.value - 1)),
            button("Forward", f"Show the {name} after", lambda: go(self._number.value + 1)),
            button("End", f"Show the last {name}", lambda: go(self._number.max)),
        ]
        for each in made:
            each.layout.width, each.layout.min_width = "auto", "5em"
        self.widget = row([*made, self._number, self._end])

    def show(self, number: int, low: int, high: int) -> None:
        """What is shown, and how far one can go."""
        self._following = True
        try:
            self._number.max = max(high, self._number.min)  # never below the other end on the way
            self._number.min, self._number.max, self._number.value = low, high, number
            self._end.value = f"of {high}"
        finally:
            self._following = False

    def _asked(self, change: Any) -> None:
        if not self._following:
            self._go(change["new"])
