"""The batch view: rows that finish at different times, round by round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import escape
from textwrap import fill
from typing import Any

import ipywidgets as widgets
from matplotlib.axes import Axes

from decoder_lib.plots import plot_rounds
from decoder_lib.views.batch.compute import (
    MOST_ROWS,
    Batch,
    Cost,
    Rounds,
    Row,
    batch_run,
    first_batch,
    read_prompts,
    rounds_of,
)
from decoder_lib.views.controls import control
from decoder_lib.views.controls import settings as run_settings
from decoder_lib.views.markup import columns, page, scrolled, table
from decoder_lib.views.situation import Situation, lesson_decoders
from decoder_lib.views.state import State
from decoder_lib.views.stepper import Walk
from decoder_lib.views.view import View, state_of

_STYLE = """<style>
.gen .rows th { white-space: nowrap; }
.gen .rows th[scope=row] { position: sticky; left: 0; background: var(--jp-layout-color0, #fff); }
.gen .rows th small { display: block; max-width: 12em; font-weight: 400; white-space: normal; }
.gen .rows td { white-space: nowrap; }
.gen .rows td span { display: inline-block; border: 1px solid var(--jp-border-color1, #bbb);
  border-radius: .4rem; padding: .05rem .4rem; }
.gen .rows td span.new { border: 2px solid currentColor; font-weight: 700; }
.gen .rows td span.end { border-style: double; border-width: 4px; border-color: currentColor; }
.gen .rows td.ended { font-weight: 600; }
.gen .columns td, .gen .columns thead th { white-space: nowrap; }
</style>"""

_PADDING = (
    "The decoder pads the rows that it is handed; the causal mask keeps them from reading the padding. "
    "Rows that have ended are not handed over, and cost nothing."
)


class BatchView(View):
    """The rows of a batch by rounds, the finished mask, and what padding would cost."""

    name = "batch view"

    def __init__(self, state: State, prompts: Sequence[str] | None = None) -> None:
        words = state.situation.words
        self.batch = (
            first_batch(state.situation)
            if prompts is None
            else Batch(read_prompts("\n".join(prompts), words))
        )
        super().__init__(state)

    def controls(self) -> Sequence[widgets.Widget]:
        """The prompts and the settings, then the round to show."""
        self._prompts = control(
            widgets.Textarea,
            "Prompts",
            f"One prompt a line, at most {MOST_ROWS}; they are read when you leave the box",
            "26em",
            max_width="calc(100% - 4px)",
            value=self._text(),
            continuous_update=False,
            rows=4,
        )
        self._prompts.observe(self._read_prompts, names="value")
        self._walk = Walk("round", self._show)
        return [run_settings(self.state, self.complain, self._prompts), self._walk.widget]

    def _read_prompts(self, change: Any) -> None:
        if change["new"] == self._text():
            return
        try:
            prompts = read_prompts(change["new"], self.state.situation.words)
        except ValueError as error:
            self.complain(f"These prompts are not used: {error}.")
            return
        self.batch = replace(self.batch, prompts=prompts)
        self.redraw(self.state.situation)

    def _text(self) -> str:
        """The prompts as the reader types them, one per line."""
        return "\n".join(self.batch.prompts)

    def _show(self, number: int) -> None:
        """Show the batch up to a round, if there is one with this number."""
        self.batch = replace(self.batch, shown=max(0, number))
        self.redraw(self.state.situation)

    def redraw(self, situation: Situation) -> None:
        """Show a situation, as far as its rounds go."""
        seen = rounds_of(situation, self.batch)
        self.batch = replace(self.batch, shown=seen.shown)
        self._walk.show(seen.shown, 0, seen.total)
        self._prompts.value = self._text()
        super().redraw(situation)

    def sentence(self, situation: Situation) -> str:
        """What happened in the round shown."""
        return rounds_of(situation, self.batch).sentence

    def picture(self, situation: Situation) -> Axes:
        """All rounds of the batch."""
        run = batch_run(situation, self.batch)
        rows = [each for each in rounds_of(situation, self.batch).rows if not each.refused]
        return plot_rounds(
            run.continuations,
            run.finish_reasons,
            situation.words.tokens,
            row_labels=[fill(f"row {each.number}: {each.prompt}", 15) for each in rows],
        )

    def drawing(self, situation: Situation) -> str:
        """The rows, the finished mask and the cost."""
        seen = rounds_of(situation, self.batch)
        return page(
            _STYLE, _rows(seen), columns(_mask(seen), _cost(seen)), f'<p class="quiet">{_PADDING}</p>'
        )


def _rows(seen: Rounds) -> str:
    """One line per row of the batch, one column per round; rounds to come show only their heads."""
    numbers = range(1, seen.total + 1)
    heads = ["row", *(f"round {number}" for number in numbers), "tokens", "how it stands"]
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in heads)
    body = "".join(
        f'<tr><th scope="row">row {row.number}{_seed(row)}<small>{escape(row.prompt)}</small></th>'
        + "".join(f"<td>{_cell(row, number, seen.shown)}</td>" for number in numbers)
        + f'<td class="number">{len(row.tokens)}</td>{_standing(row)}</tr>'
        for row in seen.rows
    )
    key = (
        "Heavy frame: selected in this round. ✓ and double frame: the end token. Done, cut: not handed over."
    )
    rows = scrolled(f"The rows after round {seen.shown} of {seen.total}", head, body, kind="rows")
    return f'{rows}<p class="quiet">{key}</p>'


def _seed(row: Row) -> str:
    return "" if row.seed is None else f", seed {row.seed}"


def _cell(row: Row, number: int, shown: int) -> str:
    """What a row did in a round."""
    if number > shown or row.refused:
        return ""
    if number > len(row.tokens):
        return f'<i class="quiet">{"done" if row.finished else "cut"}</i>'
    token = escape(row.tokens[number - 1])
    ends = row.finished and number == len(row.tokens)
    looks = " ".join(["end"] * ends + ["new"] * (number == shown))
    return f'<span class="{looks}">{"✓ " * ends}{token}</span>'


def _standing(row: Row) -> str:
    mark = "✓ " if row.finished else ""
    why = f": {row.refused}" if row.refused else ""
    ended = "" if row.state == "going on" else ' class="ended"'
    return f"<td{ended}>{escape(f'{mark}{row.state}{why}')}</td>"


def _mask(seen: Rounds) -> str:
    """The finished mask after each round shown."""
    numbers = [row.number for row in seen.rows if not row.refused]
    lines = [
        (
            each.number,
            ", ".join(map(str, each.handed)),
            *("✓ True" if each.finished[number] else "False" for number in numbers),
        )
        for each in seen.rounds
    ]
    heads = ("after round", "handed over", *(f"row {number}" for number in numbers))
    return table("The finished mask, round by round", heads, lines, marked=len(lines) - 1)


def _cost(seen: Rounds) -> str:
    """A table of predictions and positions, as they are and as padding would make them."""
    now, sofar = (seen.rounds[-1].cost if seen.rounds else Cost()), seen.cost
    lines = [
        ("predictions made", now.handed, sofar.handed),
        ("… if ended rows were handed over too", now.rectangle, sofar.rectangle),
        ("positions that hold a token", now.tokens, sofar.tokens),
        ("… padded to the longest row", now.padded, sofar.padded),
        ("… and with ended rows as well", now.padded_rectangle, sofar.padded_rectangle),
    ]
    return table("What padding costs", ("", "this round", "so far"), lines)


def batch_view(state: State | None = None, prompts: Sequence[str] | None = None, **settings: Any) -> View:
    """A live view of a batch, for the last line of a cell.

    state : shared with other views. A new one is made if none is given; it looks at the trained decoder,
        whose rows end by themselves, unless settings say otherwise.
    prompts : one text per row, which readers can change; four in the lesson's words unless given.
    settings : what to set in the state, see `State` and `Situation`. ValueError outside the controls' ranges.
    """
    if state is None and not {"decoder", "decoders"} & settings.keys():
        settings["decoder"] = lesson_decoders()[1]
    return BatchView(state_of(state, settings), prompts)
