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


def control(
    kind: type[widgets.Widget],
    description: str,
    tooltip: str,
    width: str = "auto",
    max_width: str | None = None,
    **more: Any,
) -> Any:
    """A control of some kind with its description in full, and a sentence for those who hover or listen."""
    return kind(
        description=description,
        tooltip=tooltip,
        style={"description_width": "initial"},
        layout={"width": width, "max_width": max_width},
        **more,
    )


def button(label: str, tooltip: str, pressed: Callable[[], None], **layout: str) -> widgets.Button:
    """A button with words on it, and a longer sentence for those who hover or listen."""
    made = widgets.Button(description=label, tooltip=tooltip, layout=layout)
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
    made = control(
        widgets.Text,
        "Prompt",
        "Words of the vocabulary, with spaces between; Enter sets them",
        "26em",
        continuous_update=False,
        max_width="100%",
    )
    return bind(
        state,
        made,
        "prompt",
        complain,
        read=lambda text: prompt_from(text, state.situation.words),
        show=lambda ids: state.situation.words.decode(ids),
        keep=True,
    )


def decoder_control(state: State, complain: Complain) -> Any:
    """The decoder that predicts: one of the state's."""
    made = control(widgets.Dropdown, "Parameters", "Which decoder predicts")

    def offer(_: Situation) -> None:
        options = tuple((decoder.name, decoder) for decoder in state.decoders)
        if made.options != options:  # setting them takes the selection back to the first
            made.options = options

    return bind(state, made, "decoder", complain, change=state.choose, adjust=offer)


def selection_control(state: State, complain: Complain) -> Any:
    """The selection rule: greedy or sampling."""
    made = control(
        widgets.Dropdown,
        "Selection",
        "Draw each token with the shares as odds, or take the largest share",
        options=[("sampling", False), ("greedy", True)],
    )
    return bind(state, made, "greedy", complain)


def seed_control(state: State, complain: Complain) -> Any:
    """The seed of the draws."""
    made = control(
        widgets.BoundedIntText,
        "Seed",
        f"Of the draws, 0 to {LARGEST_SEED}; greedy selection makes none",
        "7.5em",
        min=0,
        max=LARGEST_SEED,
    )
    return bind(state, made, "seed", complain, adjust=_off_when_greedy(made))


def temperature_control(state: State, complain: Complain) -> Any:
    """The temperature; its range is wider than usual if the state is already outside it."""
    low, high = TEMPERATURES
    now = state.situation.temperature
    made = control(
        widgets.BoundedFloatText,
        "Temperature",
        f"{low:g} to {high:g}: below 1 sharpens the shares, above 1 flattens them",
        "11em",
        min=min(low, now),
        max=max(high, now),
        step=0.1,
    )
    return bind(state, made, "temperature", complain, adjust=_off_when_greedy(made))


def new_tokens_control(state: State, complain: Complain) -> Any:
    """The length bound."""
    made = control(
        widgets.BoundedIntText,
        "New tokens",
        f"At most so many, 1 to {MOST_NEW_TOKENS}",
        "10em",
        min=1,
        max=MOST_NEW_TOKENS,
    )
    return bind(state, made, "max_new_tokens", complain)


def context_control(state: State, complain: Complain) -> Any:
    """The context bound, up to the decoder's own."""
    made = control(
        widgets.BoundedIntText,
        "Context bound",
        "How many positions the decoder may read, at least those of the prompt",
        "12em",
        min=1,
    )

    def limit(situation: Situation) -> None:
        made.max = situation.decoder.model.context_length

    return bind(state, made, "context_length", complain, adjust=limit)


def end_control(state: State, complain: Complain) -> Any:
    """Whether the end token ends the run, for a decoder that has an end token."""
    made = widgets.Checkbox(indent=False, layout={"width": "auto"})

    def name(situation: Situation) -> None:
        decoder = situation.decoder
        made.disabled = decoder.end_id is None
        made.description = (
            "This decoder has no end token"
            if decoder.end_id is None
            else f"{decoder.words.tokens[decoder.end_id]} ends the run"
        )

    return bind(state, made, "end", complain, adjust=name)


def _off_when_greedy(made: Any) -> Callable[[Situation], None]:
    def switch(situation: Situation) -> None:
        made.disabled = situation.greedy

    return switch
