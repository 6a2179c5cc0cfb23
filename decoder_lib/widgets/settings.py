"""The controls of a run: what is read, how tokens are selected, and what ends it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets as widgets

from decoder_lib.exploring.situation import (
    LARGEST_SEED,
    MOST_NEW_TOKENS,
    TEMPERATURES,
    Situation,
    prompt_from,
)
from decoder_lib.exploring.state import State
from decoder_lib.widgets.controls import WORDS_IN_FULL, bind, row

Complain = Callable[[str], None]


def settings(state: State, complain: Complain, prompt: widgets.Widget | None = None) -> widgets.VBox:
    """Rows of controls for everything that a run depends on.

    prompt : stands where the run's own prompt would, in a view that continues something else.

    Numbers have fields and not sliders: the front end gives a slider's handle no name for screen readers.
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
    """What is continued; a text with an unknown word stays there to be mended."""
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
    """Which decoder predicts: one of the state's."""
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
    """Greedy or sampling."""
    control = widgets.Dropdown(
        description="Selection",
        tooltip="Draw each token with the shares as odds, or take the largest share",
        options=[("sampling", False), ("greedy", True)],
        style=WORDS_IN_FULL,
        layout={"width": "auto"},
    )
    return bind(state, control, "greedy", complain)


def seed_control(state: State, complain: Complain) -> Any:
    """Of the draws."""
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
    """Of the draws; wider than the usual range where the state is already outside it."""
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
    """Whether the end token ends the run, for a decoder that has one."""
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
