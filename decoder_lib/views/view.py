"""What all views have in common: controls, a drawing that follows the state, and a still picture."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import ipywidgets as widgets
from matplotlib.axes import Axes

from decoder_lib.plots.picture import only_words, show
from decoder_lib.views.markup import paragraph
from decoder_lib.views.situation import Situation
from decoder_lib.views.state import State


class View:
    """A live view of a state. Subclasses say what is drawn, and with which controls.

    name : what screen readers and tests know it by.
    """

    name = "view"

    def __init__(self, state: State) -> None:
        self.state = state
        self._drawing = widgets.HTML()
        self._problem = widgets.HTML()
        self._said = widgets.HTML()  # what changed, for those who do not see it
        self.widget = widgets.VBox([*self.controls(), self._problem, self._said, self._drawing])
        self.widget.add_class("gen-view")
        state.observe(self.redraw)
        self.redraw(state.situation)

    def controls(self) -> Sequence[widgets.Widget]:
        """The controls, in the order in which the keyboard reaches them. This is called once."""
        raise NotImplementedError

    def drawing(self, situation: Situation) -> str:
        """The situation as HTML (`markup.page`), with text alternatives and nothing to click."""
        raise NotImplementedError

    def sentence(self, situation: Situation) -> str:
        """The situation in a sentence or two, announced when it changes."""
        raise NotImplementedError

    def picture(self, situation: Situation) -> Axes:
        """The situation as a picture of `decoder_lib.plots`, for where no widget can run."""
        raise NotImplementedError

    def complain(self, sentence: str) -> None:
        """Say why something is not allowed, until the situation changes; an empty sentence takes it back."""
        told = sentence[:1].upper() + sentence[1:]
        self._problem.value = (
            f'<div role="alert" class="gen complaint">{paragraph(told)}</div>' if told else ""
        )

    def redraw(self, situation: Situation) -> None:
        """Show a situation."""
        self.complain("")
        self._drawing.value = self.drawing(situation)
        self._said.value = (
            f'<div class="gen" role="status" aria-live="polite">{paragraph(self.sentence(situation))}</div>'
        )

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, **_: Any
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """The widget, and the picture, sentence and drawing for GitHub, nbconvert or a PDF."""
        situation = self.state.situation
        words = {"text/plain": self.sentence(situation)}
        if only_words(include):
            return words, {}
        bundle: dict[str, Any] = dict(self.widget._repr_mimebundle_())
        picture, metadata = show(self.picture(situation))._repr_mimebundle_()
        bundle |= picture | words
        bundle["text/html"] = "".join(
            (picture["text/html"], paragraph(self.sentence(situation)), self.drawing(situation))
        )
        return bundle, dict(metadata)


def state_of(state: State | None, settings: dict[str, Any]) -> State:
    """The state that was given, with these settings, or a new one. Raises ValueError as `State` does."""
    if state is None:
        return State(**settings)
    state.change(**settings)
    return state
