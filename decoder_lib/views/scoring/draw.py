"""The chain-rule view: the factors of two runs, what they multiply to, and whether the runs compare."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import ipywidgets as widgets
from matplotlib.axes import Axes

from decoder_lib.plots import plot_running_product
from decoder_lib.views.controls import button, control, row
from decoder_lib.views.controls import settings as run_settings
from decoder_lib.views.markup import Part, columns, heading, logarithm, page, paragraph, small, strip, table
from decoder_lib.views.runs import followed
from decoder_lib.views.scoring.compute import Chain, Pair, chain_of, choices, compare
from decoder_lib.views.situation import Situation
from decoder_lib.views.state import State
from decoder_lib.views.view import View, state_of


class ChainRuleView(View):
    """Two runs side by side. Readers choose them, and keep runs to compare others with.

    alone : whether no other view has the controls of the run, so that this one needs them.
    """

    name = "chain-rule view"

    def __init__(self, state: State, alone: bool = False) -> None:
        self._alone = alone
        self.pair = Pair()
        self._following = False
        super().__init__(state)

    def controls(self) -> Sequence[widgets.Widget]:
        """The choice of the two runs, and the buttons that keep one and forget all."""
        self._first, self._second = (
            control(
                widgets.Dropdown,
                description,
                "A run to look at: the one now, its twin, its branch, or one that was kept",
                max_width="100%",
            )
            for description in ("First run", "Second run")
        )
        self._offer(self.state.situation)
        self._first.observe(lambda change: self._look_at(first=change["new"]), names="value")
        self._second.observe(lambda change: self._look_at(second=change["new"]), names="value")
        about = "Keep the run that is followed, to hold others against it"
        keep = button("Keep this run", about, self._keep, width="auto")
        about = "Leave only the runs of the settings"
        forget = button("Forget kept runs", about, lambda: self._look_at(kept=()), width="auto")
        chosen = row([self._first, self._second, keep, forget])
        return [run_settings(self.state, self.complain), chosen] if self._alone else [chosen]

    def redraw(self, situation: Situation) -> None:
        """Offer the runs that exist now, and show the two that are chosen."""
        self.pair = self.pair.among(situation)
        self._offer(situation)
        super().redraw(situation)

    def drawing(self, situation: Situation) -> str:
        """Each run's factors in a table, and their logarithms laid end to end."""
        chains = [chain_of(choice) for choice in self.pair.of(situation)]
        longest = max(-chain.log_sum for chain in chains)
        return page(columns(*map(_table, chains)), *(_lengths(chain, longest) for chain in chains))

    def sentence(self, situation: Situation) -> str:
        """Which of the two runs is more probable, or why nothing can be said."""
        return compare(*self.pair.of(situation)).verdict

    def picture(self, situation: Situation) -> Axes:
        """The factors and running products of both."""
        runs = {choice.name: followed(choice.situation) for choice in self.pair.of(situation)}
        return plot_running_product(runs, situation.words, title="Factors, and what they multiply to")

    def _offer(self, situation: Situation) -> None:
        """Bring both lists up to date."""
        options = tuple((choice.name, choice.key) for choice in choices(situation, self.pair.kept))
        self._following = True
        try:
            for made, key in ((self._first, self.pair.first), (self._second, self.pair.second)):
                if made.options != options:
                    made.options = options
                made.value = key
        finally:
            self._following = False

    def _look_at(self, **fields: Any) -> None:
        if not self._following:
            self.pair = replace(self.pair, **fields)
            self.redraw(self.state.situation)

    def _keep(self) -> None:
        try:
            self.pair = self.pair.keep(self.state.situation)
        except ValueError as error:
            self.complain(str(error))
        else:
            self.redraw(self.state.situation)


def chain_rule_view(state: State | None = None, **settings: Any) -> View:
    """A live view of the chain rule, for the last line of a cell.

    state : shared with other views. If none is given, a new one is made, and the view has its controls too.
    settings : what to set in it, see `State` and `Situation`. ValueError outside the controls' ranges.
    """
    return ChainRuleView(state_of(state, settings), alone=state is None)


def _table(chain: Chain) -> str:
    rows = [
        (
            factor.number,
            factor.token,
            factor.factor,
            small(factor.product),
            logarithm(factor.log_factor),
            logarithm(factor.log_sum),
        )
        for factor in chain.factors
    ]
    return (
        heading(chain.name[:1].upper() + chain.name[1:])
        + table(
            chain.about,
            ("step", "token", "factor", "product so far", "ln factor", "sum so far"),
            rows,
            foot=("all", "", "", small(chain.product), "", logarithm(chain.log_sum)),
        )
        + paragraph(f"It ended because {chain.finish}.")
    )


def _lengths(chain: Chain, longest: float) -> str:
    """The logarithms laid end to end, on one scale for both runs: the shorter strip is more probable."""
    if not 0.0 < longest < math.inf:
        return ""
    parts, start = [], 0.0
    for factor in chain.factors:
        end = -factor.log_sum / longest
        parts.append(Part(factor.token, start, end))
        start = end
    count = len(parts)
    name = chain.name[:1].upper() + chain.name[1:]
    words = f"{name}: log-sum {logarithm(chain.log_sum)}, {count} factor{'' if count == 1 else 's'}"
    lengths = ", ".join(f"{factor.token} {logarithm(factor.log_factor)}" for factor in chain.factors)
    return paragraph(words) + strip(f"Logarithms laid end to end. {words}: {lengths}.", parts)
