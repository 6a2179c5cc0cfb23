"""Ways to use a live view as an object: find its controls, and press them."""

from __future__ import annotations

from collections.abc import Iterator

import ipywidgets as widgets

from decoder_lib.views.view import View


def parts(widget: widgets.Widget) -> Iterator[widgets.Widget]:
    yield widget
    for child in getattr(widget, "children", ()):
        yield from parts(child)


def control(view: View, description: str) -> widgets.Widget:
    """The one control of that name."""
    (found,) = [part for part in parts(view.widget) if getattr(part, "description", None) == description]
    return found


def press(view: View, *descriptions: str) -> None:
    for description in descriptions:
        control(view, description).click()
