"""The controls that walk through a run: to either end, a step at a time, by number, or by themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets as widgets

from decoder_lib.exploring.runs import followed
from decoder_lib.exploring.situation import Situation
from decoder_lib.exploring.state import State
from decoder_lib.widgets.controls import WORDS_IN_FULL, bind, button, row

_INTERVAL = 1200  # milliseconds a step


def stepper(state: State, complain: Callable[[str], None]) -> widgets.HBox:
    """A row of buttons and the number of the step.

    No button is switched off at an end of the run: it would take the keyboard's focus with it.
    """

    def last() -> int:
        return len(followed(state.situation))

    # The front end's player has buttons without names. It stays hidden and keeps the time for one that has.
    clock = widgets.Play(min=0, interval=_INTERVAL, show_repeat=False, layout={"display": "none"})
    number = widgets.BoundedIntText(
        description="Step",
        tooltip="Jump to a step by its number; arrow up and arrow down step through",
        min=0,
        style=WORDS_IN_FULL,
        layout={"width": "7em"},
    )
    end = widgets.HTML()

    def limit(control: Any) -> Callable[[Situation], None]:
        def adjust(situation: Situation) -> None:
            control.max = len(followed(situation))
            end.value = f"of {len(followed(situation))}"

        return adjust

    for control in (clock, number):
        bind(state, control, "step", complain, adjust=limit(control))

    def play() -> None:
        clock.playing = not clock.playing

    player = button("Play", "Show a step after the other, from the start if this is the last", play)

    def name(_: Any) -> None:
        player.description = "Pause" if clock.playing else "Play"

    clock.observe(name, names="playing")
    made = [
        button("Start", "Show the prompt alone", lambda: state.change(step=0)),
        button("Back", "Show one step less", state.back),
        button("Forward", "Show one step more", state.forward),
        button("End", "Show the whole run", lambda: state.change(step=last())),
        player,
    ]
    for each in made:
        each.layout.width, each.layout.min_width = "auto", "5em"
    return row([*made, number, end, clock])
