"""The controls that set the state, and follow it when something else sets it.

Numbers have fields and not sliders, because the front end gives a slider's handle no name for screen readers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import ipywidgets as widgets

from decoder_lib.views.situation import (
    LARGEST_SEED,
    MOST_NEW_TOKENS,
    TEMPERATURES,
    Situation,
    prompt_from,
)
from decoder_lib.views.state import State

Complain = Callable[[str], None]
WORDS_IN_FULL = {"description_width": "initial"}  # a control's style, or its description is cut off


def bind(
    state: State,
    control: Any,
    field: str,
    complain: Complain = lambda sentence: None,
    read: Callable[[Any], Any] = lambda value: value,
    show: Callable[[Any], Any] = lambda value: value,
    keep: bool = False,
    change: Callable[[Any], None] | None = None,
    adjust: Callable[[Situation], None] = lambda situation: None,
) -> Any:
    """The control, tied to a field of the situation.

    complain : is told, in a sentence, why a value is not allowed, and an empty sentence once one is.
    read, show : turn the control's value into the field's, and back.
    keep : whether a control keeps a value that is not allowed, so that the reader can mend it (a text, say).
        Otherwise it goes back to the value that was set.
    change : sets the field, if more than the field has to be set.
    adjust : brings whatever else depends on the situation up to date, such as the control's bounds, before
        its value follows.
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


def settings(state: State, complain: Complain, prompt: widgets.Widget | None = None) -> widgets.VBox:
    """Rows of controls for everything that a run depends on.

    prompt : takes the place of the run's own prompt, in a view that continues something else.
    """
    groups = (
        (selection_control, seed_control, temperature_control),
        (new_tokens_control, context_control, end_control),
    )
    first = prompt or prompt_control(state, complain)
    made = widgets.VBox(
        [
            row([first, decoder_control(state, complain)]),
            *(row([make(state, complain) for make in group]) for group in groups),
        ]
    )
    made.add_class("gen-settings")
    return made


def prompt_control(state: State, complain: Complain) -> Any:
    """The prompt; a text with an unknown word stays there to be mended."""
    control = widgets.Text(
        description="Prompt",
        tooltip="Words of the vocabulary, with spaces between; Enter sets them",
        continuous_update=False,
        style=WORDS_IN_FULL,
        layout={"width": "26em", "max_width": "100%"},
    )
    return bind(
        state,
        control,
        "prompt",
        complain,
        read=lambda text: prompt_from(text, state.situation.words),
        show=lambda ids: state.situation.words.decode(ids),
        keep=True,
    )


def decoder_control(state: State, complain: Complain) -> Any:
    """The decoder that predicts: one of the state's."""
    control = widgets.Dropdown(
        description="Parameters",
        tooltip="Which decoder predicts",
        style=WORDS_IN_FULL,
        layout={"width": "auto"},
    )

    def offer(_: Situation) -> None:
        options = tuple((decoder.name, decoder) for decoder in state.decoders)
        if control.options != options:  # setting them takes the selection back to the first
            control.options = options

    return bind(state, control, "decoder", complain, change=state.choose, adjust=offer)


def selection_control(state: State, complain: Complain) -> Any:
    """The selection rule: greedy or sampling."""
    control = widgets.Dropdown(
        description="Selection",
        tooltip="Draw each token with the shares as odds, or take the largest share",
        options=[("sampling", False), ("greedy", True)],
        style=WORDS_IN_FULL,
        layout={"width": "auto"},
    )
    return bind(state, control, "greedy", complain)


def seed_control(state: State, complain: Complain) -> Any:
    """The seed of the draws."""
    control = widgets.BoundedIntText(
        description="Seed",
        tooltip=f"Of the draws, 0 to {LARGEST_SEED}; greedy selection makes none",
        min=0,
        max=LARGEST_SEED,
        style=WORDS_IN_FULL,
        layout={"width": "7.5em"},
    )
    return bind(state, control, "seed", complain, adjust=_off_when_greedy(control))


def temperature_control(state: State, complain: Complain) -> Any:
    """The temperature; its range is wider than usual if the state is already outside it."""
    low, high = TEMPERATURES
    now = state.situation.temperature
    control = widgets.BoundedFloatText(
        description="Temperature",
        tooltip=f"{low:g} to {high:g}: below 1 sharpens the shares, above 1 flattens them",
        min=min(low, now),
        max=max(high, now),
        step=0.1,
        style=WORDS_IN_FULL,
        layout={"width": "11em"},
    )
    return bind(state, control, "temperature", complain, adjust=_off_when_greedy(control))


def new_tokens_control(state: State, complain: Complain) -> Any:
    """The length bound."""
    control = widgets.BoundedIntText(
        description="New tokens",
        tooltip=f"At most so many, 1 to {MOST_NEW_TOKENS}",
        min=1,
        max=MOST_NEW_TOKENS,
        style=WORDS_IN_FULL,
        layout={"width": "10em"},
    )
    return bind(state, control, "max_new_tokens", complain)


def context_control(state: State, complain: Complain) -> Any:
    """The context bound, up to the decoder's own."""
    control = widgets.BoundedIntText(
        description="Context bound",
        tooltip="How many positions the decoder may read, at least those of the prompt",
        min=1,
        style=WORDS_IN_FULL,
        layout={"width": "12em"},
    )

    def limit(situation: Situation) -> None:
        control.max = situation.decoder.model.context_length

    return bind(state, control, "context_length", complain, adjust=limit)


def end_control(state: State, complain: Complain) -> Any:
    """Whether the end token ends the run, for a decoder that has an end token."""
    control = widgets.Checkbox(indent=False, layout={"width": "auto"})

    def name(situation: Situation) -> None:
        decoder = situation.decoder
        control.disabled = decoder.end_id is None
        control.description = (
            "This decoder has no end token"
            if decoder.end_id is None
            else f"{decoder.words.tokens[decoder.end_id]} ends the run"
        )

    return bind(state, control, "end", complain, adjust=name)


def _off_when_greedy(control: Any) -> Callable[[Situation], None]:
    def switch(situation: Situation) -> None:
        control.disabled = situation.greedy

    return switch
