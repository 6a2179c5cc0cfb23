"""The controls that walk through a run, or through the numbered parts of a view: by button or by number.

No button is switched off at an end of the walk, because that would take the keyboard's focus away from it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets as widgets

from decoder_lib.views.controls import Complain, bind, button, control, row
from decoder_lib.views.runs import followed
from decoder_lib.views.situation import Situation
from decoder_lib.views.state import State

_INTERVAL = 1200  # milliseconds per step


def stepper(state: State, complain: Complain) -> widgets.HBox:
    """Buttons and a number for the step of the run that is followed, and a button that plays it."""
    # The front end's player has buttons without names. It stays hidden and keeps the time for one that has.
    clock = widgets.Play(min=0, interval=_INTERVAL, show_repeat=False, layout={"display": "none"})
    tooltip = "Jump to a step by its number; arrow up and arrow down step through"
    number = control(widgets.BoundedIntText, "Step", tooltip, "7em", min=0)
    end = widgets.HTML()

    def limit(moved: Any) -> Callable[[Situation], None]:
        def adjust(situation: Situation) -> None:
            moved.max = len(followed(situation))
            end.value = f"of {moved.max}"

        return adjust

    for moved in (clock, number):
        bind(state, moved, "step", complain, adjust=limit(moved))

    def play() -> None:
        clock.playing = not clock.playing

    def name(_: Any) -> None:
        player.description = "Pause" if clock.playing else "Play"

    player = button("Play", "Show a step after the other, from the start if this is the last", play)
    clock.observe(name, names="playing")
    made = [
        button("Start", "Show the prompt alone", lambda: state.change(step=0)),
        button("Back", "Show one step less", state.back),
        button("Forward", "Show one step more", state.forward),
        button("End", "Show the whole run", lambda: state.change(step=len(followed(state.situation)))),
        player,
    ]
    return _row(made, number, end, clock)


class Walk:
    """Buttons and a number for what a view counts; `go` is called with the number that a reader asks for.

    name : what is counted, such as "round".
    """

    def __init__(self, name: str, go: Callable[[int], None]) -> None:
        self._go = go
        self._following = False  # the view shows a number, and does not ask for it again
        tooltip = f"Jump to a {name} by its number; arrow up and arrow down walk through them"
        self._number = control(widgets.BoundedIntText, name.capitalize(), tooltip, "8em")
        self._number.observe(self._asked, names="value")
        self._end = widgets.HTML()
        made = [
            button("Start", "Show the start", lambda: go(self._number.min)),
            button("Back", f"Show the {name} before", lambda: go(self._number.value - 1)),
            button("Forward", f"Show the {name} after", lambda: go(self._number.value + 1)),
            button("End", f"Show the last {name}", lambda: go(self._number.max)),
        ]
        self.widget = _row(made, self._number, self._end)

    def show(self, number: int, low: int, high: int) -> None:
        """Show a number, and the lowest and highest one that can be asked for."""
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


def _row(buttons: Sequence[widgets.Button], *others: widgets.Widget) -> widgets.HBox:
    for each in buttons:
        each.layout.width, each.layout.min_width = "auto", "5em"
    return row([*buttons, *others])
