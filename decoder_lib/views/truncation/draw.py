"""The truncation view: what each policy drops, and what is predicted from the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import escape
from typing import Any

import ipywidgets as widgets
from matplotlib.axes import Axes

from decoder_lib.plots import plot_windows
from decoder_lib.views.controls import bind, control, row
from decoder_lib.views.controls import settings as run_settings
from decoder_lib.views.markup import page, scrolled, table
from decoder_lib.views.situation import POLICIES, Situation
from decoder_lib.views.state import State
from decoder_lib.views.stepper import Walk
from decoder_lib.views.truncation.compute import (
    WHOLE,
    Place,
    Reading,
    Truncating,
    Windows,
    most_kept,
    runs_of,
    windows_of,
)
from decoder_lib.views.view import View
from decoder_lib.vocabulary import Vocabulary

_REASONS = {"stop": "end token", "length": "length bound", "context": "context full"}
_STYLE = """<style>
.gen .readings li { box-sizing: border-box; text-align: center; }
.gen .readings li.dropped { border-style: dashed; background: none; }
.gen .readings li.kept { border-left-width: .35rem; border-left-color: currentColor; }
.gen .readings .title span { font-weight: 400; }
.gen .shares td { min-width: 8rem; white-space: nowrap; }
.gen .shares i { display: inline-block; height: .7em; margin-left: .5rem; border: 1px solid currentColor;
  background: var(--jp-layout-color3, #bdbdbd); }
.gen .shares td.selected { font-weight: 700; }
.gen .shares td.selected i { border-width: 2px;
  background: repeating-linear-gradient(45deg, currentColor 0 2px, transparent 2px 5px); }
</style>"""


class WindowView(View):
    """One text as each policy reads it, and the distributions that follow."""

    name = "window view"

    def __init__(self, state: State) -> None:
        self.truncating = Truncating()
        super().__init__(state)

    def controls(self) -> Sequence[widgets.Widget]:
        """The run, then how its text is shortened, then which step is shown."""
        policy = control(
            widgets.Dropdown,
            "Policy of the run",
            "Whose run the text comes from; the others are shown beside it",
            options=POLICIES,
        )
        self._first = control(
            widgets.BoundedIntText,
            "Tokens kept first",
            "How many first tokens the policy 'keep first' keeps for good",
            "13em",
            min=1,
        )
        self._first.observe(lambda change: self._keep(change["new"]), names="value")
        self._walk = Walk("step", self._show)
        return [
            run_settings(self.state, self.complain),
            row([bind(self.state, policy, "policy", self.complain), self._first]),
            self._walk.widget,
        ]

    def _show(self, number: int) -> None:
        """Show a step, or the nearest there is."""
        self.truncating = replace(self.truncating, shown=max(1, number))
        self.redraw(self.state.situation)

    def _keep(self, n_first: int) -> None:
        """Keep so many first tokens."""
        if n_first != self._kept_first(self.state.situation):
            self.truncating = replace(self.truncating, n_first=n_first)
            self.redraw(self.state.situation)

    def _kept_first(self, situation: Situation) -> int:
        return min(self.truncating.n_first, most_kept(situation.context_length))

    def redraw(self, situation: Situation) -> None:
        """Show a situation, as far as its steps go and its context has room."""
        seen = windows_of(situation, self.truncating)
        if self.truncating.shown is not None:
            self.truncating = replace(self.truncating, shown=seen.step)
        self._walk.show(seen.step, 1, seen.steps)
        self._first.max = most_kept(situation.context_length)
        self._first.value = self._kept_first(situation)
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
        f'<p class="title">{escape(_title(reading, seen))}<span>: {escape(reading.note)}</span></p>'
        f'<ol class="chips" aria-label="{escape(f"The text as {reading.name} reads it")}">'
        + "".join(_chip(place, reading.distribution is not None, widest) for place in reading.places)
        + "</ol>"
        for reading in seen.readings
    ]
    key = "Numbers are the positions that the tokens are read at."
    return f'<div class="readings">{"".join(parts)}<p class="quiet">{key}</p></div>'


def _title(reading: Reading, seen: Windows) -> str:
    return f"{reading.name} (this run)" if reading.name == seen.policy else reading.name


def _chip(place: Place, reads: bool, widest: float) -> str:
    """One token; it is as wide in each row, so that it is below itself."""
    word = escape(place.word)
    width = f"min-width:max(5.6rem,{widest}ch)"
    if place.position is None:
        note = "dropped" if reads else "not read"
        return f'<li class="dropped" style="{width}"><small>{note}</small><s>{word}</s></li>'
    notes = ", ".join([f"at {place.position}"] + ["kept"] * place.kept + ["new"] * place.newest)
    looks = " ".join(["kept"] * place.kept + ["new"] * place.newest)
    return f'<li class="{looks}" style="{width}"><small>{notes}</small>{word}</li>'


def _shares(seen: Windows, words: Vocabulary) -> str:
    """One line per token, one column per policy: shares as numbers and bars, the selected one hatched."""
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
        f"<td>{'–' if reading.moved is None or reading.name == WHOLE else f'{reading.moved:.4f}'}</td>"
        for reading, _ in columns
    )
    more = len(words) - len(seen.shares)
    rest = f'<p class="quiet">{more} more tokens with smaller shares.</p>' if more else ""
    head = f'<th scope="col">token</th>{head}'
    foot = f'<tfoot><tr><th scope="row">moved to other tokens</th>{moved}</tr></tfoot>'
    lines = scrolled("Shares of the next token", head, body, foot, "shares")
    return f'{lines}{rest}<p class="quiet">{_key(seen)}</p>'


def _share(share: float, largest: float, selected: bool) -> str:
    width = 4 * share / largest
    bar = f'<i aria-hidden="true" style="width:{width:.2f}rem"></i>'
    return f"<td{' class=selected' if selected else ''}>{share:.4f}{bar}{' ✓' if selected else ''}</td>"


def _key(seen: Windows) -> str:
    """A key to the marks, and what the shares are compared with."""
    if any(reading.selected is not None for reading in seen.readings):
        how = "takes" if seen.greedy else "takes with the draw of this step"
        mark = f"✓ and hatched: the token that the run {how}, and that it would take after the other windows."
    else:
        mark = "The run has ended, so there is no draw that could select a token."
    if seen.readings[0].name == WHOLE:
        return f"{mark} Moved: the share that stands on other tokens than after the whole text."
    return f"{mark} The decoder itself has no room for the whole text, so there is nothing to compare with."


def window_view(state: State | None = None, **settings: Any) -> View:
    """A live view of the truncation policies, for the last line of a cell.

    state : shared with other views. A new one is made if none is given; it has a small context and more new
        tokens than fit into it, unless settings say otherwise.
    settings : what to set in the state, see `State` and `Situation`. ValueError outside the controls' ranges.
    """
    if state is None:
        state = State(**({"max_new_tokens": 7, "seed": 2} | settings))
        there = state.situation
        if "context_length" not in settings:
            room = max(6, len(there.prompt) + 1)
            state.change(context_length=min(room, there.decoder.model.context_length))
    else:
        state.change(**settings)
    return WindowView(state)
