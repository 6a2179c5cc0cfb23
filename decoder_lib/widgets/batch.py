"""The batch view: rows that finish at different times, round by round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import escape
from textwrap import fill
from typing import Any

import ipywidgets as widgets
from matplotlib.axes import Axes

from decoder_lib.exploring.rounds import (
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
from decoder_lib.exploring.situation import LARGEST_SEED, MOST_NEW_TOKENS, Situation
from decoder_lib.exploring.state import State
from decoder_lib.plots.rounds import plot_rounds
from decoder_lib.widgets.controls import WORDS_IN_FULL, bind, button, row
from decoder_lib.widgets.markup import page, table
from decoder_lib.widgets.view import View

_STYLE = """<style>
.gen .rows th[scope=row] { position: sticky; left: 0; max-width: 9rem;
  background: var(--jp-layout-color0, #fff); }
.gen .rows th small { display: block; font-weight: 400; }
.gen .rows td { white-space: nowrap; }
.gen .rows td span { display: inline-block; border: 1px solid var(--jp-border-color1, #bbb);
  border-radius: .4rem; padding: .05rem .4rem; }
.gen .rows td span.new { border: 2px solid currentColor; font-weight: 700; }
.gen .rows td span.end { border-style: double; border-width: 4px; border-color: currentColor; }
.gen .rows td.ended { font-weight: 600; }
.gen .beside { display: flex; flex-wrap: wrap; column-gap: 3rem; }
.gen .beside > * { min-width: 0; }
</style>"""


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
        """Stepping first, then the prompts beside what they are continued with."""
        self._round = widgets.IntSlider(
            description="Round", tooltip="How many rounds are shown", min=0, max=1, style=WORDS_IN_FULL
        )
        self._round.observe(lambda change: self._show(change["new"]), names="value")
        self._prompts = widgets.Textarea(
            value=self._text(),
            description="Prompts",
            tooltip=f"One prompt a line, at most {MOST_ROWS}; they are read when you leave the box",
            continuous_update=False,
            rows=4,
            style=WORDS_IN_FULL,
        )
        self._prompts.observe(self._read_prompts, names="value")
        self._bound = widgets.IntSlider(
            description="Context bound",
            tooltip="How many positions a row may fill",
            min=1,
            max=self.state.situation.decoder.model.context_length,
            style=WORDS_IN_FULL,
        )
        bind(self.state, self._bound, "context_length", self.complain)
        return [
            row(
                [
                    button("Back", "Show one round less", lambda: self._show(self.batch.shown - 1)),
                    button("Forward", "Show one round more", lambda: self._show(self.batch.shown + 1)),
                    self._round,
                ]
            ),
            row([self._prompts, *self._choices()]),
            row([*self._numbers(), self._bound]),
        ]

    def _choices(self) -> list[widgets.Widget]:
        """What continues the prompts, and when a row has finished."""
        decoders = dict.fromkeys([*self.state.decoders, self.state.situation.decoder])
        decoder = widgets.Dropdown(
            description="Decoder",
            tooltip="Which decoder continues the prompts",
            options=[(decoder.name, decoder) for decoder in decoders],
        )
        selection = widgets.Dropdown(
            description="Selection",
            tooltip="Whether each row draws with a generator of its own or takes the largest share",
            options=[("sampled", False), ("greedy", True)],
        )
        end = widgets.Checkbox(
            description="The end token ends a row",
            tooltip="Without it, rows end at a limit only",
            indent=False,
        )
        return [
            bind(self.state, decoder, "decoder", self.complain, change=self.state.choose),
            bind(self.state, selection, "greedy", self.complain),
            bind(self.state, end, "end", self.complain),
        ]

    def _numbers(self) -> list[widgets.Widget]:
        seed = widgets.IntSlider(
            description="Seed of row 0",
            tooltip="Each further row has the next seed; greedy selection uses none",
            min=0,
            max=LARGEST_SEED,
            style=WORDS_IN_FULL,
        )
        new_tokens = widgets.IntSlider(
            description="New tokens",
            tooltip="At most so many a row, and so many rounds",
            min=1,
            max=MOST_NEW_TOKENS,
            style=WORDS_IN_FULL,
        )
        return [
            bind(self.state, seed, "seed", self.complain),
            bind(self.state, new_tokens, "max_new_tokens", self.complain),
        ]

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
        """The prompts as they stand in their box."""
        return "\n".join(self.batch.prompts)

    def _show(self, number: int) -> None:
        """Show the batch up to a round, if there is one with this number."""
        total = rounds_of(self.state.situation, self.batch).total
        number = min(max(0, number), total)
        if number != self.batch.shown:
            self.batch = replace(self.batch, shown=number)
            self.redraw(self.state.situation)
        self._round.value = number

    def redraw(self, situation: Situation) -> None:
        """Show a situation, and let the sliders reach as far as it does."""
        seen = rounds_of(situation, self.batch)
        self.batch = replace(self.batch, shown=seen.shown)
        self._round.max = max(1, seen.total)
        self._round.value = seen.shown
        self._prompts.value = self._text()
        self._bound.max = situation.decoder.model.context_length
        self._bound.value = situation.context_length
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
        return page(_STYLE, _rows(seen), f'<div class="beside">{_mask(seen)}{_cost(seen)}</div>')


def _rows(seen: Rounds) -> str:
    """A line a row, a column a round; of the rounds to come only the heads."""
    numbers = range(1, seen.total + 1)
    heads = ["row and prompt", *(f"round {number}" for number in numbers), "tokens", "how it stands"]
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in heads)
    body = "".join(
        f'<tr><th scope="row">row {row.number}{_seed(row)}<small>{escape(row.prompt)}</small></th>'
        + "".join(f"<td>{_cell(row, number, seen.shown)}</td>" for number in numbers)
        + f'<td class="number">{len(row.tokens)}</td>{_standing(row)}</tr>'
        for row in seen.rows
    )
    caption = f"The rows after round {seen.shown} of {seen.total}"
    key = "Framed: selected in this round. ✓ and a double frame: the end token. Done, cut: not handed over."
    return (
        f'<div class="scroll" tabindex="0"><table class="rows"><caption>{caption}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
        f'<p class="quiet">{key}</p>'
    )


def _seed(row: Row) -> str:
    return "" if row.seed is None else f", seed {row.seed}"


def _cell(row: Row, number: int, shown: int) -> str:
    """What became of a row in a round."""
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
    """Predictions and positions, as they are and as padding would make them."""
    now, sofar = (seen.rounds[-1].cost if seen.rounds else Cost()), seen.cost
    lines = [
        ("predictions made", now.handed, sofar.handed),
        ("with ended rows handed over too", now.rectangle, sofar.rectangle),
        ("positions that hold a token", now.tokens, sofar.tokens),
        ("padded to the round's longest row", now.padded, sofar.padded),
        ("with ended rows handed over too", now.padded_rectangle, sofar.padded_rectangle),
    ]
    return table("What padding costs", ("", "this round", "so far"), lines)


def batch_view(state: State | None = None, prompts: Sequence[str] | None = None, **settings: Any) -> View:
    """The batch view of a state, or of a new one with these settings (`Situation`).

    prompts : a text a row, which the reader can change; section 11's unless given. The trained decoder unless
        settings say otherwise, because its rows end by themselves.
    """
    if state is None:
        state = State(**settings)
        trained = [decoder for decoder in state.decoders if decoder.name == "trained"]
        if trained and "decoder" not in settings:
            state.choose(trained[0])
    return BatchView(state, prompts)
