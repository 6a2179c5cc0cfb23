"""A cache that fills pass by pass, and what an edit of an earlier token makes of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from html import escape
from typing import Any

import ipywidgets as widgets
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from decoder_lib.plots import plot_positions_read, plot_side_by_side
from decoder_lib.views.cache.compute import CachedRun, Edit, cached_run_of
from decoder_lib.views.controls import (
    button,
    control,
    decoder_control,
    new_tokens_control,
    prompt_control,
    row,
    selection_control,
)
from decoder_lib.views.markup import heading, page, scrolled
from decoder_lib.views.runs import followed
from decoder_lib.views.situation import Situation
from decoder_lib.views.state import State
from decoder_lib.views.stepper import stepper
from decoder_lib.views.view import View, state_of
from decoder_lib.vocabulary import Vocabulary

_COMPUTED, _CACHED, _NOT_YET = ("●", "computed"), ("○", "from the cache"), ("·", "not there yet")

_STYLE = """<style>
.gen .cells td, .gen .cells thead th { text-align: center; padding: .15rem .4rem; white-space: nowrap; }
.gen .cells thead th { font-weight: 400; color: inherit; vertical-align: bottom; }
.gen .cells .sign { min-width: 1.75rem; }
.gen .cells thead small { display: block; color: var(--jp-ui-font-color2, #616161); }
.gen .cells tbody th { white-space: nowrap; font-weight: 400; }
.gen .cells tr.last th { font-weight: 700; }
.gen .cells td.computed { background: var(--jp-layout-color2, #eee); outline: 2px solid currentColor;
  outline-offset: -3px; }
.gen .cells td.count { text-align: right; font-variant-numeric: tabular-nums; padding-left: 1rem; }
.gen .cells td.not { color: var(--jp-ui-font-color2, #616161); }
.gen .cells .edited { font-weight: 700; }
.gen .cells s { text-decoration-thickness: 2px; }
.gen .hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.gen .key { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; list-style: none; padding: 0;
  margin: .25rem 0; }
.gen .pair td { white-space: nowrap; }
.gen .pair td.track { width: 14rem; min-width: 7rem; }
.gen .pair .bar { display: block; height: .6em; box-sizing: border-box; min-width: 1px; margin: 2px 0;
  border: 1px solid var(--jp-ui-font-color2, #616161); background: var(--jp-layout-color3, #bdbdbd); }
.gen .pair .bar.stale { border-color: currentColor; background: var(--jp-layout-color1, #fff)
  repeating-linear-gradient(45deg, var(--jp-brand-color1, #1976d2) 0 3px, transparent 3px 6px); }
</style>"""


class CacheView(View):
    """The cache view."""

    name = "cache view"

    def controls(self) -> Sequence[widgets.Widget]:
        """The settings of the run, then the step to show, then the edit."""
        self._position = control(widgets.Dropdown, "Edit position", "Which token of the prefix to replace")
        self._token = control(widgets.Dropdown, "Token there", "What to put in its place")
        undo = button("Undo the edit", "Put the token back", lambda: self.state.change(edit=None))
        self._following = False
        self.state.observe(self._follow)
        self._follow(self.state.situation)
        self._position.observe(self._choose_position, names="value")
        self._token.observe(self._choose_token, names="value")
        made = (prompt_control, decoder_control, selection_control, new_tokens_control)
        return [
            row([make(self.state, self.complain) for make in made]),
            stepper(self.state, self.complain),
            row([self._position, self._token, undo]),
        ]

    def _follow(self, situation: Situation) -> None:
        """Fit the controls to the run, and show the edit, or the token that is at the position."""
        run, words = cached_run_of(situation), situation.words
        place = self._position.index
        if run.edit is not None:
            place = run.edit.position
        elif place is None:
            place = len(situation.prompt) - 1
        place = min(place, len(run.prefix) - 1)
        there = run.prefix if run.edit is None else run.edit.after
        self._following = True
        try:
            _offer(
                self._position, [f"{i}: {words.tokens[token_id]}" for i, token_id in enumerate(run.prefix)]
            )
            self._position.value = place
            _offer(self._token, words.tokens)
            self._token.value = there[place]
        finally:
            self._following = False

    def _choose_position(self, _: Any) -> None:
        if not self._following:
            self.state.change(edit=None)
            self._follow(self.state.situation)

    def _choose_token(self, event: Any) -> None:
        if not self._following:
            self.state.change(edit=(self._position.value, event["new"]))

    def sentence(self, situation: Situation) -> str:
        """What the last pass did, or what the edit does."""
        return cached_run_of(situation).sentence(situation.words)

    def drawing(self, situation: Situation) -> str:
        """The grid with its counts, and below it the edit."""
        run, words = cached_run_of(situation), situation.words
        return page(_STYLE, _key(), _grid(run, words), _edited(run.edit, words))

    def picture(self, situation: Situation) -> Axes:
        """The grid; or after an edit, the shares that the next pass should give and those it would."""
        run, words = cached_run_of(situation), situation.words
        if run.edit is not None and run.edit.stale is not None:
            shown = list(run.edit.shown)
            shares = {
                "right": np.array(run.edit.right.shares)[shown],
                "from the stale cache": np.array(run.edit.stale.shares)[shown],
            }
            some = Vocabulary(tuple(words.tokens[i] for i in shown))
            return plot_side_by_side(shares, some, title="The next token after the edit")
        steps = followed(situation).steps[: run.shown or None]  # all of them before the first
        without = [replace(step, positions_read=len(step.context)) for step in steps]
        _, ax = plt.subplots(figsize=(6.4, 0.72 * (len(steps) + 1) + 1.0), layout="constrained")
        return plot_positions_read({"without a cache": without, "with a cache": steps}, words, ax=ax)


def cache_view(state: State | None = None, **settings: Any) -> View:
    """A live view of a cache that fills, for the last line of a cell.

    state : shared with other views; a new one is made if none is given.
    settings : what to set in it, see `State` and `Situation`. ValueError outside the controls' ranges.
    """
    return CacheView(state_of(state, settings))


def _offer(made: widgets.Dropdown, names: Sequence[str]) -> None:
    """Let the reader choose one of these by number; nothing changes if they are on offer already."""
    options = tuple((name, number) for number, name in enumerate(names))
    if made.options != options:
        made.options = options


def _key() -> str:
    """A key to the signs in the grid."""
    items = (f"<li>{sign} {escape(said)}</li>" for sign, said in (_COMPUTED, _CACHED, _NOT_YET))
    return f'<ul class="key" aria-label="signs">{"".join(items)}</ul>'


def _sign(kind: tuple[str, str], css: str = "") -> str:
    """A cell with a sign to look at, and words in its place for a screen reader."""
    sign, said = kind
    words = f'<span class="hidden">{said}</span>'
    return f'<td class="sign {css}"><span aria-hidden="true">{sign}</span>{words}</td>'


def _grid(run: CachedRun, words: Vocabulary) -> str:
    """A grid of passes downwards and positions across; steps that are not shown yet are left open."""
    tokens = [words.tokens[token_id] for token_id in run.prefix] + [""] * (run.positions - len(run.prefix))
    heads = "".join(_column(position, token) for position, token in enumerate(tokens))
    rows = []
    for number, made in enumerate(run.passes, 1):
        there = number <= run.shown
        cells = []
        for position in range(run.positions):
            if not there or position >= len(made.context):
                cells.append(_sign(_NOT_YET, "not"))
            elif position < made.held:
                cells.append(_sign(_CACHED))
            else:
                cells.append(_sign(_COMPUTED, "computed"))
        counts = (made.computed, len(made.context)) if there else ("", "")
        cells += [f'<td class="count">{count}</td>' for count in counts]
        last = ' class="last"' if number == run.shown else ""
        rows.append(f'<tr{last}><th scope="row">pass {number}</th>{"".join(cells)}</tr>')
    totals = "".join(f'<td class="count">{count}</td>' for count in (run.with_cache, run.without_cache))
    heads = (
        f'<td></td>{heads}<th scope="col">computed<small>with the cache</small></th>'
        '<th scope="col">computed<small>without</small></th>'
    )
    foot = f'<tfoot><tr><th scope="row">so far</th><td colspan="{run.positions}"></td>{totals}</tr></tfoot>'
    return scrolled("Positions by passes", heads, "".join(rows), foot, "cells")


def _column(position: int, token: str) -> str:
    return f'<th scope="col"><small>{position}</small>{escape(token)}</th>'


def _edited(edit: Edit | None, words: Vocabulary) -> str:
    """Two tables: what becomes of each entry, and of the next distribution."""
    if edit is None:
        hint = "Choose a position above, and another token for it, to see which entries fall."
        return f'<p class="quiet">{hint}</p>'
    before, after = (words.tokens[ids[edit.position]] for ids in (edit.before, edit.after))
    parts = [heading(f"Position {edit.position}: {before} becomes {after}"), _entries(edit, words)]
    if edit.stale is not None:
        parts.append(_shares(edit, words))
    return "".join(parts)


def _entries(edit: Edit, words: Vocabulary) -> str:
    """The old and the new prefix above what becomes of the cache's entries and what the next pass does."""
    positions = range(len(edit.after))
    heads = "".join(_column(position, words.tokens[edit.after[position]]) for position in positions)

    def line(name: str, cells: Iterable[tuple[str, str]]) -> str:
        drawn = "".join(f'<td class="{css}">{said}</td>' for said, css in cells)
        return f'<tr><th scope="row">{name}</th>{drawn}</tr>'

    was = (
        (f"<s>{escape(words.tokens[edit.before[i]])}</s>", "edited") if i == edit.position else ("", "")
        for i in positions
    )
    entries = (
        ("stays", "") if i < edit.kept else ("falls", "edited") if i in edit.fallen else ("none yet", "not")
        for i in positions
    )
    fed = (("computed", "computed") if i in edit.fed else ("cached", "") for i in positions)
    body = line("was", was) + line("entry", entries) + line("next pass", fed)
    return scrolled("What becomes of the cache", f"<td></td>{heads}", body, kind="cells")


def _shares(edit: Edit, words: Vocabulary) -> str:
    """The right distribution beside the stale cache's, one row per token."""
    assert edit.stale is not None
    right, stale = edit.right, edit.stale
    largest = max(*right.shares, *stale.shares)
    rows = []
    for token_id in edit.shown:
        selected = [
            name for name, answer in (("right", right), ("stale", stale)) if answer.token_id == token_id
        ]
        shares = (right.shares[token_id], stale.shares[token_id])
        drawn = "".join(
            f'<span class="bar{css}" style="width:{100 * share / largest:.2f}%"></span>'
            for share, css in zip(shares, ("", " stale"), strict=True)
        )
        note = f"selected: {' and '.join(selected)}" if selected else ""
        rows.append(
            f'<tr{" class=marked" if selected else ""}><th scope="row">{escape(words.tokens[token_id])}</th>'
            f'<td class="number">{shares[0]:.4f}</td><td class="number">{shares[1]:.4f}</td>'
            f'<td class="track">{drawn}</td><td>{note}</td></tr>'
        )
    more = len(words) - len(edit.shown)
    old = escape(words.tokens[edit.before[edit.position]])
    notes = f"{more:,} more tokens are not shown. " if more else ""
    notes += (
        f"The stale cache answers for the text before the edit, where position {edit.position} was {old}."
    )
    head = (
        '<th scope="col">token</th><th scope="col" class="number">right</th>'
        '<th scope="col" class="number">stale</th><th scope="col">right above, stale hatched</th>'
        '<th scope="col">note</th>'
    )
    caption = "The next token, right and from the stale cache"
    return f'{scrolled(caption, head, "".join(rows), kind="pair")}<p class="quiet">{notes}</p>'
