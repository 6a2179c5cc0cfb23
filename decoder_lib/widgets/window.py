"""The window view: what each truncation policy drops, and what is predicted from the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import escape
from typing import Any

import ipywidgets as widgets
from matplotlib.axes import Axes

from decoder_lib.exploring.situation import LARGEST_SEED, MOST_NEW_TOKENS, POLICIES, Situation, prompt_from
from decoder_lib.exploring.state import State
from decoder_lib.exploring.windows import (
    WHOLE,
    Place,
    Reading,
    Truncating,
    Windows,
    most_kept,
    runs_of,
    windows_of,
)
from decoder_lib.plots.windows import plot_windows
from decoder_lib.vocabulary import Vocabulary
from decoder_lib.widgets.controls import WORDS_IN_FULL, bind, button, row
from decoder_lib.widgets.markup import page, table
from decoder_lib.widgets.view import View

_REASONS = {"stop": "end token", "length": "length bound", "context": "context full"}
_STYLE = """<style>
.gen .readings li { text-align: center; }
.gen .readings li.dropped { border-style: dashed; background: none; }
.gen .readings li.kept { border-left-width: .35rem; border-left-color: currentColor; }
.gen .readings h4 { margin: .6rem 0 .1rem; font-size: inherit; }
.gen .readings h4 span { font-weight: 400; }
.gen .shares td { min-width: 8rem; white-space: nowrap; }
.gen .shares i { display: inline-block; height: .7em; margin-left: .5rem; border: 1px solid currentColor;
  background: var(--jp-layout-color3, #bdbdbd); }
.gen .shares td.selected { font-weight: 700; }
.gen .shares td.selected i { border-width: 2px;
  background: repeating-linear-gradient(45deg, currentColor 0 2px, transparent 2px 5px); }
.gen .shares tfoot th, .gen .shares tfoot td { border-bottom: 0; }
</style>"""


class WindowView(View):
    """One text as each policy reads it, and the distributions that follow."""

    name = "window view"

    def __init__(self, state: State) -> None:
        self.truncating = Truncating()
        super().__init__(state)

    def controls(self) -> Sequence[widgets.Widget]:
        """Stepping first, then the policy and its room, then the run."""
        self._step = widgets.IntSlider(
            description="Step", tooltip="Which pass of the run is shown", min=1, max=2, style=WORDS_IN_FULL
        )
        self._step.observe(lambda change: self._show(change["new"]), names="value")
        return [
            row(
                [
                    button("Back", "Show the step before", lambda: self._show(self._step.value - 1)),
                    button("Forward", "Show the step after", lambda: self._show(self._step.value + 1)),
                    self._step,
                ]
            ),
            row(self._room()),
            row(self._run()),
        ]

    def _room(self) -> list[widgets.Widget]:
        """What the text is shortened to, and how."""
        policy = widgets.Dropdown(
            description="Policy of the run",
            tooltip="Whose run the text comes from; the others are shown beside it",
            options=POLICIES,
            style=WORDS_IN_FULL,
        )
        self._first = widgets.IntSlider(
            value=self.truncating.n_first,
            description="Tokens kept first",
            tooltip="How many first tokens the policy 'keep first' keeps",
            min=1,
            max=max(self.truncating.n_first, 2),
            style=WORDS_IN_FULL,
        )
        self._first.observe(lambda change: self._keep(change["new"]), names="value")
        self._bound = widgets.IntSlider(
            description="Context bound",
            tooltip="How many positions may be filled; the window is shortened when they are",
            min=1,
            max=self.state.situation.decoder.model.context_length,
            style=WORDS_IN_FULL,
        )
        return [
            bind(self.state, policy, "policy", self.complain),
            bind(self.state, self._bound, "context_length", self.complain),
            self._first,
        ]

    def _run(self) -> list[widgets.Widget]:
        """What the text comes from."""
        prompt = widgets.Text(
            description="Prompt",
            tooltip="Words of the vocabulary, with spaces between them; press Enter to set them",
            continuous_update=False,
        )
        decoders = dict.fromkeys([*self.state.decoders, self.state.situation.decoder])
        decoder = widgets.Dropdown(
            description="Decoder",
            tooltip="Which decoder reads the windows",
            options=[(decoder.name, decoder) for decoder in decoders],
        )
        selection = widgets.Dropdown(
            description="Selection",
            tooltip="Whether the next token is drawn, or is the one with the largest share",
            options=[("sampled", False), ("greedy", True)],
        )
        seed = widgets.IntSlider(
            description="Seed",
            tooltip="Of the draws; greedy selection uses none",
            min=0,
            max=LARGEST_SEED,
            style=WORDS_IN_FULL,
        )
        new_tokens = widgets.IntSlider(
            description="New tokens",
            tooltip="At most so many",
            min=1,
            max=MOST_NEW_TOKENS,
            style=WORDS_IN_FULL,
        )
        bind(self.state, prompt, "prompt", self.complain, self._read_prompt, self._prompt_text, keep=True)
        return [
            prompt,
            bind(self.state, decoder, "decoder", self.complain, change=self.state.choose),
            bind(self.state, selection, "greedy", self.complain),
            bind(self.state, seed, "seed", self.complain),
            bind(self.state, new_tokens, "max_new_tokens", self.complain),
        ]

    def _read_prompt(self, text: str) -> tuple[int, ...]:
        return prompt_from(text, self.state.situation.words)

    def _prompt_text(self, prompt: tuple[int, ...]) -> str:
        return self.state.situation.words.decode(prompt)

    def _show(self, number: int) -> None:
        """Show a step, if there is one with this number."""
        seen = windows_of(self.state.situation, self.truncating)
        number = min(max(1, number), seen.steps)
        if number != seen.step:
            self.truncating = replace(self.truncating, shown=number)
            self.redraw(self.state.situation)
        self._step.value = number

    def _keep(self, n_first: int) -> None:
        """Keep so many first tokens, as far as there is room."""
        n_first = min(n_first, most_kept(self.state.situation.context_length))
        if n_first != self._kept_first(self.state.situation):
            self.truncating = replace(self.truncating, n_first=n_first)
            self.redraw(self.state.situation)
        self._first.value = n_first

    def _kept_first(self, situation: Situation) -> int:
        return min(self.truncating.n_first, most_kept(situation.context_length))

    def redraw(self, situation: Situation) -> None:
        """Show a situation, and let the sliders reach as far as it does."""
        seen = windows_of(situation, self.truncating)
        self._step.max = max(2, seen.steps)
        self._step.value = seen.step
        self._first.max = max(2, most_kept(situation.context_length))  # a slider must have somewhere to go
        self._first.value = self._kept_first(situation)
        self._bound.max = situation.decoder.model.context_length
        self._bound.value = situation.context_length
        super().redraw(situation)

    def sentence(self, situation: Situation) -> str:
        """What the policies drop, and how much that changes."""
        return windows_of(situation, self.truncating).sentence

    def picture(self, situation: Situation) -> Axes:
        """All windows of the run."""
        seen = windows_of(situation, self.truncating)
        return plot_windows(seen.run, seen.truncate, seen.bound, situation.words, title=seen.policy)

    def drawing(self, situation: Situation) -> str:
        """The text under each policy, the shares after it, and where the runs go from there."""
        seen = windows_of(situation, self.truncating)
        return page(_STYLE, _readings(seen), _shares(seen, situation.words), self._runs(situation, seen))

    def _runs(self, situation: Situation, seen: Windows) -> str:
        runs = runs_of(situation, self.truncating)
        lines = [
            (name, situation.words.decode(run.token_ids) or "none", _REASONS[run.finish_reason])
            for name, run in runs.items()
        ]
        heads = ("policy", "new tokens", "ended by")
        return table("The whole run of each policy", heads, lines, marked=list(runs).index(seen.policy))


def _readings(seen: Windows) -> str:
    """The text once for each policy, what is not read struck through."""
    widest = max(len(place.word) for place in seen.readings[0].places) + 1.5
    parts = [
        f"<h4>{escape(_title(reading, seen))}<span>: {escape(reading.note)}</span></h4>"
        f'<ol class="chips" aria-label="{escape(f"The text as {reading.name} reads it")}">'
        + "".join(_chip(place, widest) for place in reading.places)
        + "</ol>"
        for reading in seen.readings
    ]
    key = "Numbers are the positions that the tokens are read at."
    return f'<div class="readings">{"".join(parts)}<p class="quiet">{key}</p></div>'


def _title(reading: Reading, seen: Windows) -> str:
    return f"{reading.name} (this run)" if reading.name == seen.policy else reading.name


def _chip(place: Place, widest: float) -> str:
    """One token; of the same width in each row, so that it stands below itself."""
    looks = {"dropped": place.position is None, "kept": place.kept, "new": place.newest}
    note = "dropped" if place.position is None else f"at {place.position}"
    notes = ", ".join([note] + ["kept"] * place.kept + ["new"] * place.newest)
    word = escape(place.word)
    return (
        f'<li class="{" ".join(name for name, holds in looks.items() if holds)}" '
        f'style="min-width:max(4.5rem,{widest}ch)"><small>{notes}</small>'
        f"{f'<s>{word}</s>' if place.position is None else word}</li>"
    )


def _shares(seen: Windows, words: Vocabulary) -> str:
    """A line a token, a column a policy: the share as a number and as a bar, the selected one hatched."""
    columns = [
        (reading, reading.distribution) for reading in seen.readings if reading.distribution is not None
    ]
    if not columns:
        return ""
    largest = max(float(shares[token_id]) for _, shares in columns for token_id in seen.shares)
    head = "".join(f'<th scope="col">{escape(_title(reading, seen))}</th>' for reading, _ in columns)
    body = "".join(
        f'<tr><th scope="row">{escape(words.tokens[token_id])}</th>'
        + "".join(
            _share(float(shares[token_id]), largest, token_id == reading.selected)
            for reading, shares in columns
        )
        + "</tr>"
        for token_id in seen.shares
    )
    moved = "".join(
        f"<td>{'not known' if reading.moved is None else f'{reading.moved:.4f}'}</td>"
        for reading, _ in columns
    )
    more = len(words) - len(seen.shares)
    rest = f'<p class="quiet">{more} more tokens with smaller shares.</p>' if more else ""
    return (
        '<div class="scroll" tabindex="0"><table class="shares"><caption>Shares of the next token</caption>'
        f'<thead><tr><th scope="col">token</th>{head}</tr></thead><tbody>{body}</tbody>'
        f'<tfoot><tr><th scope="row">moved to other tokens</th>{moved}</tr></tfoot></table></div>{rest}'
        f'<p class="quiet">{_key(seen)}</p>'
    )


def _share(share: float, largest: float, selected: bool) -> str:
    width = 4 * share / largest
    bar = f'<i aria-hidden="true" style="width:{width:.2f}rem"></i>'
    return f"<td{' class=selected' if selected else ''}>{share:.4f}{bar}{' ✓' if selected else ''}</td>"


def _key(seen: Windows) -> str:
    """What the marks mean, and what the shares are compared with."""
    if any(reading.selected is not None for reading in seen.readings):
        how = "takes" if seen.greedy else "takes with the draw of this step"
        mark = f"✓ and hatched: the token that the run {how}, and that it would take after the other windows."
    else:
        mark = "The run has ended, so there is no draw that could select a token."
    if seen.readings[0].name == WHOLE:
        return f"{mark} Moved: the share that stands on other tokens than after the whole text."
    return f"{mark} The decoder itself has no room for the whole text, so there is nothing to compare with."


def window_view(state: State | None = None, **settings: Any) -> View:
    """The window view of a state, or of a new one with these settings (`Situation`).

    Unless they are given, a new one has a small context and more new tokens than fit into it.
    """
    if state is None:
        state = State(**({"max_new_tokens": 7, "seed": 2} | settings))
        there = state.situation
        if "context_length" not in settings:
            room = max(6, len(there.prompt) + 1)
            state.change(context_length=min(room, there.decoder.model.context_length))
    return WindowView(state)
