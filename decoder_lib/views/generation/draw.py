"""The generation explorer: step through a run, change anything, take another token."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import Any

import ipywidgets as widgets
from matplotlib.axes import Axes

from decoder_lib.plots import plot_prefixes, plot_token_rows
from decoder_lib.views.controls import Complain, button, control, note, row, settings
from decoder_lib.views.generation.compute import Steps, fields_to_take, steps_of
from decoder_lib.views.markup import (
    Part,
    bars,
    chips,
    columns,
    heading,
    page,
    paragraph,
    small,
    strip,
    table,
)
from decoder_lib.views.runs import MOST_SHARES, branch_of, followed
from decoder_lib.views.scoring.compute import Chain, chain_of, compare, run_and_branch
from decoder_lib.views.situation import Situation
from decoder_lib.views.state import State
from decoder_lib.views.stepper import stepper
from decoder_lib.views.view import View, state_of

_ABSENT = "–"  # a step that one of two runs does not have


class GenerationExplorer(View):
    """One run, step by step: the prefix, the shares, the draw, the product, and a branch beside the run."""

    name = "generation explorer"

    def controls(self) -> Sequence[widgets.Widget]:
        """The settings of the run, then the step to show, then the token to take."""
        return [
            settings(self.state, self.complain),
            stepper(self.state, self.complain),
            Taking(self.state, self.complain).widget,
        ]

    def drawing(self, situation: Situation) -> str:
        """The prefix, the newest selection beside the steps so far, and the branch against the run."""
        shown = steps_of(situation)
        selected = shown.step and f", then {shown.step} selected"
        prefix = chips(
            shown.prefix,
            newest=len(shown.prefix) - 1 if shown.step else None,
            label=f"the prefix: {shown.n_prompt} given{selected or ''}",
            given=shown.n_prompt,
            notes={} if shown.taken is None else {shown.taken: "taken"},
        )
        return page(prefix, columns(_selection(shown), _turns(shown)), _branch(situation))

    def sentence(self, situation: Situation) -> str:
        """The step shown, what was selected there, and whether the run has ended."""
        shown = steps_of(situation)
        where = f"{'Branch' if situation.on_branch else 'Run'}, step {shown.step} of {shown.n_steps}"
        if not shown.turns:
            told = f"{where}: the prompt, {shown.n_prompt} token{'s' if shown.n_prompt > 1 else ''}"
        else:
            newest = shown.turns[-1]
            told = (
                f"{where}: read {len(shown.prefix) - 1} tokens, selected {newest.token} "
                f"at {newest.probability:.4f}, product so far {small(newest.product)}"
            )
        return f"{told}. {shown.finish}"

    def picture(self, situation: Situation) -> Axes:
        """The prefixes that were read, or the prompt alone."""
        made = followed(situation).steps[: situation.step]
        if made:
            return plot_prefixes(made, situation.words, title="What each pass read, and what was selected")
        return plot_token_rows({"prompt": [situation.words.tokens[i] for i in situation.prompt]})


class Taking:
    """The controls that take another token than the one that was selected, and lead back from the branch.

    There is one button per token, or a list of the largest shares for a large vocabulary. The token that the
    run has at this step carries a tick on its button.
    """

    def __init__(self, state: State, complain: Complain) -> None:
        self._state, self._complain = state, complain
        self._where = note("")
        self._buttons = row([])
        self._list = control(widgets.Dropdown, "Another token", "The largest shares of this step")
        auto = {"width": "auto"}
        self._list_button = button("Take it", "Go on from the token in the list", self._take_listed, **auto)
        self._follow = button("", "Step through the one or the other", self._turn, **auto)
        self._drop = button("Drop the branch", "Forget it and go on with the run", self._drop_branch, **auto)
        tokens = row([self._where, self._buttons, self._list, self._list_button])
        self.widget = row([tokens, row([self._follow, self._drop])])
        state.observe(self.follow)
        self.follow(state.situation)

    def follow(self, situation: Situation) -> None:
        """Bring the controls up to date."""
        shown = steps_of(situation)
        self._where.value = note(shown.take).value
        few = len(situation.words) <= MOST_SHARES
        self._show(few and bool(shown.n_steps), self._buttons)
        self._show(not few and shown.can_take, self._list, self._list_button)
        if few:
            self._follow_buttons(situation)
        else:
            self._list.options = [
                (f"{share.token}  {share.share:.4f}", share.token_id) for share in shown.shares
            ] or [("no token", None)]
            self._list.index = 0
        branch = branch_of(situation)
        self._show(branch is not None, self._follow, self._drop)
        self._follow.description = "Back to the run" if situation.on_branch else "Follow the branch"

    def _follow_buttons(self, situation: Situation) -> None:
        shown = steps_of(situation)
        words = situation.words.tokens
        if tuple(made.description for made in self._buttons.children) != words:
            self._buttons.children = [
                button(word, f"Take {word} at the step shown, and go on from there", self._taker(token_id))
                for token_id, word in enumerate(words)
            ]
            for made in self._buttons.children:
                made.layout.width = "auto"
        for made, share in zip(self._buttons.children, shown.shares, strict=False):
            made.icon = "check" if share.stands else ""
        for made in self._buttons.children:
            made.disabled = not shown.can_take
            if not shown.shares:
                made.icon = ""

    def _show(self, seen: bool, *parts: widgets.Widget) -> None:
        for part in parts:
            part.layout.display = None if seen else "none"

    def _taker(self, token_id: int) -> Callable[[], None]:
        return lambda: self._take(token_id)

    def _take(self, token_id: int) -> None:
        try:
            self._state.change(**fields_to_take(self._state.situation, token_id))
        except ValueError as error:
            self._complain(f"{error}")

    def _take_listed(self) -> None:
        if self._list.value is not None:
            self._take(self._list.value)

    def _turn(self) -> None:
        self._state.change(on_branch=not self._state.situation.on_branch)

    def _drop_branch(self) -> None:
        self._state.change(branch=None, on_branch=False)


def generation_explorer(state: State | None = None, **settings: Any) -> View:
    """A live view of the loop, for the last line of a cell.

    state : shared with other views; a new one is made if none is given.
    settings : what to set in it, see `State` and `Situation`. ValueError outside the controls' ranges.
    """
    return GenerationExplorer(state_of(state, settings))


def _selection(shown: Steps) -> str:
    """The newest selection: what could have been selected, and how it was decided."""
    if not shown.turns:
        return paragraph("No pass has been made yet: nothing is predicted, and nothing selected.")
    more = f"and {shown.n_left_out} more, which share {shown.left_out:.4f}" if shown.n_left_out else ""
    candidates = bars(
        f"Shares at step {shown.step}, after {len(shown.prefix) - 1} tokens",
        [(share.token, share.share, share.note, share.stands) for share in shown.shares],
        more,
    )
    if shown.uniform is None:
        return candidates + paragraph(shown.how)
    hit = next(part.name for part in shown.intervals if part.hit)
    places = ", ".join(f"{part.name} {part.start:.4f} to {part.end:.4f}" for part in shown.intervals)
    scale = strip(
        f"The shares laid end to end from 0 to 1: {places}. {shown.how}",
        [Part(part.name, part.start, part.end, part.hit) for part in shown.intervals],
        at=(shown.uniform, f"draw {shown.uniform:.4f}: {hit}"),
    )
    return candidates + scale + paragraph(shown.how)


def _turns(shown: Steps) -> str:
    """The table of steps."""
    if not shown.turns:
        return ""
    rows: list[tuple[object, ...]] = [
        (
            turn.number,
            turn.token,
            turn.probability,
            small(turn.product),
            turn.positions,
            turn.positions_with_cache,
        )
        for turn in shown.turns
    ]
    read = sum(turn.positions for turn in shown.turns)
    read_with_cache = sum(turn.positions_with_cache for turn in shown.turns)
    return table(
        "The steps so far, and the positions computed",
        ("step", "token", "share", "product", "without cache", "with cache"),
        rows,
        marked=len(rows) - 1,
        foot=("all", "", "", small(shown.product), read, read_with_cache),
    )


def _branch(situation: Situation) -> str:
    """The branch beside the run: tokens, products, and how each ended."""
    pair = run_and_branch(situation)
    if pair is None or situation.branch is None:
        return ""
    run, branch = map(chain_of, pair)
    place = situation.branch[0]
    rows = zip_longest(_cells(run), _cells(branch), fillvalue=(_ABSENT,) * 3)
    return (
        heading(f"The run and the branch at step {place + 1}")
        + table(
            "Token by token; before the heavy row they are the same",
            ("step", "run", "share", "product", "branch", "share", "product"),
            [(number, *one, *other) for number, (one, other) in enumerate(rows, 1)],
            marked=place,
        )
        + paragraph(f"The run ended because {run.finish}; the branch because {branch.finish}.")
        + paragraph(compare(*pair).verdict)
    )


def _cells(chain: Chain) -> list[tuple[object, ...]]:
    return [(factor.token, factor.factor, small(factor.product)) for factor in chain.factors]
