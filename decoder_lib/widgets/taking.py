"""The controls that take another token than the one that was selected, and lead back from the branch."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets as widgets

from decoder_lib.exploring.runs import branch_of
from decoder_lib.exploring.situation import Situation
from decoder_lib.exploring.state import State
from decoder_lib.exploring.steps import MOST_SHARES, fields_to_take, steps_of
from decoder_lib.widgets.controls import WORDS_IN_FULL, button, note, row


class Taking:
    """A button a token, or for a large vocabulary a list of the largest shares; and what leads back.

    The token that stands in the run at this step has a tick on its button.
    """

    def __init__(self, state: State, complain: Callable[[str], None]) -> None:
        self._state, self._complain = state, complain
        self._where = note("")
        self._buttons = row([])
        self._list = widgets.Dropdown(
            description="Another token",
            tooltip="The largest shares of this step",
            style=WORDS_IN_FULL,
            layout={"width": "auto"},
        )
        self._list_button = button("Take it", "Go on from the token in the list", self._take_listed)
        self._follow = button("", "Step through the one or the other", self._turn)
        self._drop = button("Drop the branch", "Forget it and go on with the run", self._drop_branch)
        for made in (self._list_button, self._follow, self._drop):
            made.layout.width = "auto"
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
