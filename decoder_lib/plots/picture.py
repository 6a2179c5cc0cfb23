"""A figure with the words that take its place for those who cannot see it."""

from __future__ import annotations

import base64
import html
from collections.abc import Collection
from functools import cached_property
from io import BytesIO
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

_DPI = 100


class Picture:
    """A finished figure with its text alternative, for the last line of a notebook cell.

    It is drawn when somebody looks at it.
    """

    def __init__(self, figure: Figure, alternative: str) -> None:
        self._figure = figure
        self.alternative = alternative

    @cached_property
    def png(self) -> bytes:
        """The drawing as a PNG file."""
        buffer = BytesIO()
        self._figure.savefig(buffer, format="png", dpi=_DPI)
        return buffer.getvalue()

    @property
    def width(self) -> int:
        """The width of the drawing, in pixels."""
        return round(float(self._figure.get_size_inches()[0]) * _DPI)

    def __repr__(self) -> str:
        return self.alternative

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, **_: Any
    ) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
        words = {"text/plain": self.alternative}
        if only_words(include):
            return words, {}
        data = base64.b64encode(self.png).decode()
        # JupyterLab gives a bare image/png no alternative, so the image is wrapped in HTML for it.
        # On a phone a wide picture is scrolled sideways, not shrunk until nothing in it can be read.
        image = (
            f'<img src="data:image/png;base64,{data}" alt="{html.escape(self.alternative)}" '
            f'style="min-width:{min(self.width, 520)}px"/>'
        )
        return words | {"text/html": image, "image/png": data}, {"image/png": {"alt": self.alternative}}


def only_words(include: Collection[str] | None) -> bool:
    """Whether only plain text is asked for, among these MIME types (None for all)."""
    return include is not None and set(include) <= {"text/plain"}


def show(ax: Axes) -> Picture:
    """Finish the figure that `ax` belongs to: a picture whose text alternative is the label of `ax`."""
    figure = ax.get_figure(root=True)
    assert figure is not None, "an Axes that was removed from its figure cannot be shown"
    plt.close(figure)  # or the notebook would draw it a second time
    return Picture(figure, str(ax.get_label()))
