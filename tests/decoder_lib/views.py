"""Ways to use a live view as a reader does: find its controls, press them, read what it shows and says."""

from __future__ import annotations

from collections.abc import Iterator

import ipywidgets as widgets
from bs4 import BeautifulSoup, Tag

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


def page(view: View) -> BeautifulSoup:
    """What the view shows below its controls and messages, without what is hidden from screen readers."""
    found = BeautifulSoup(view.widget.children[-1].value, "html.parser")
    for decoration in found.select('[aria-hidden="true"]'):
        decoration.decompose()
    return found


def text(view: View) -> str:
    return page(view).get_text()


def said(view: View) -> str:
    """What a screen reader announces."""
    return _message(view, "status")


def told(view: View) -> str:
    """Why something that was asked for is not allowed."""
    return _message(view, "alert")


def _message(view: View, role: str) -> str:
    parts = (part for part in view.widget.children[:-1] if isinstance(part, widgets.HTML))
    found = (BeautifulSoup(part.value, "html.parser") for part in parts)
    return "".join(message.get_text() for each in found for message in each.select(f'[role="{role}"]'))


def table(view: View, caption: str) -> list[list[str]]:
    """The cells of the table whose caption begins so, row by row, its head and foot too."""
    return _cells(_table(view, caption))


def body(view: View, caption: str) -> list[list[str]]:
    """The same without head and foot."""
    found = _table(view, caption).tbody
    assert found is not None
    return _cells(found)


def _table(view: View, caption: str) -> Tag:
    tables = page(view).find_all("table")
    (found,) = [each for each in tables if each.caption and each.caption.get_text().startswith(caption)]
    return found


def _cells(rows: Tag) -> list[list[str]]:
    return [[cell.get_text() for cell in row.find_all(("th", "td"))] for row in rows.find_all("tr")]


def captions(view: View) -> list[str]:
    return [caption.get_text() for caption in page(view).find_all("caption")]


def chips(view: View, label: str = "the prefix") -> list[tuple[str, str]]:
    """The tokens of the list whose label begins so, each with what is said of it: a token, then its note."""
    (found,) = page(view).select(f'ol[aria-label^="{label}"]')
    notes = [str(item.small.extract().get_text()) for item in found.find_all("li")]
    return [(item.get_text(), note) for item, note in zip(found.find_all("li"), notes, strict=True)]
