"""Controls that set a field of the state, and follow it when something else sets it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import ipywidgets as widgets

from decoder_lib.exploring.situation import Situation
from decoder_lib.exploring.state import State


def bind(
    state: State,
    control: Any,
    field: str,
    complain: Callable[[str], None] = lambda sentence: None,
    read: Callable[[Any], Any] = lambda value: value,
    show: Callable[[Any], Any] = lambda value: value,
    keep: bool = False,
    change: Callable[[Any], None] | None = None,
    adjust: Callable[[Situation], None] = lambda situation: None,
) -> Any:
    """The control, tied to a field of the situation.

    complain : is told, in a sentence, why a value cannot be; an empty sentence once it can.
    read, show : from the control's value to the field's, and back.
    keep : whether a control with a value that cannot be keeps it, for the reader to mend (a text, say), until
        something else is set. Else it goes back to what was set.
    change : sets the field, where there is more to set than the field.
    adjust : brings what else depends on the situation up to date, such as the control's bounds, before its
        value follows.
    """
    setter = change or (lambda value: state.change(**{field: value}))
    following = False  # what the state says is shown, and not set again

    def set_field(event: Any) -> None:
        if following:
            return
        try:
            setter(read(event["new"]))
        except ValueError as error:
            if not keep:
                follow(state.situation)
            complain(f"{error}.")
        else:
            follow(state.situation)  # a text may say the same in other words
            complain("")

    def follow(situation: Situation) -> None:
        nonlocal following
        following = True
        try:
            adjust(situation)
            control.value = show(getattr(situation, field))
        finally:
            following = False

    control.observe(set_field, names="value")
    state.observe(follow)
    follow(state.situation)
    return control


def button(label: str, tooltip: str, pressed: Callable[[], None]) -> widgets.Button:
    """A button with words on it, and a longer sentence for those who hover or listen."""
    made = widgets.Button(description=label, tooltip=tooltip)
    made.on_click(lambda _: pressed())
    return made


def row(children: Sequence[widgets.Widget], *classes: str) -> widgets.HBox:
    """Controls side by side, on a second line where the page is narrow."""
    made = widgets.HBox(list(children))
    for name in ("gen-row", *classes):
        made.add_class(name)
    return made


def note(text: str) -> widgets.HTML:
    """A few words among the controls."""
    return widgets.HTML(escape(text))


WORDS_IN_FULL = {"description_width": "initial"}  # a control's style, or its description is cut off
