"""A figure with the words that stand for it where it cannot be seen."""

from __future__ import annotations

import base64
import html
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

_DPI = 100


@dataclass(frozen=True)
class Picture:
    """A finished figure with its text alternative, for the last line of a notebook cell."""

    png: bytes
    alternative: str
    width: int  # pixels

    def __repr__(self) -> str:
        return self.alternative

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
        data = base64.b64encode(self.png).decode()
        # JupyterLab gives a bare image/png no alternative, so the image is wrapped in HTML for it.
        # On a phone a wide picture is scrolled sideways, not shrunk until nothing in it can be read.
        image = (
            f'<img src="data:image/png;base64,{data}" alt="{html.escape(self.alternative)}" '
            f'style="min-width:{min(self.width, 520)}px"/>'
        )
        bundle = {"text/html": image, "image/png": data, "text/plain": self.alternative}
        return bundle, {"image/png": {"alt": self.alternative}}


def show(ax: Axes) -> Picture:
    """Finish the figure that `ax` belongs to: a picture whose text alternative is the label of `ax`."""
    figure = ax.get_figure(root=True)
    assert figure is not None, "an Axes that was removed from its figure cannot be shown"
    buffer = BytesIO()
    figure.savefig(buffer, format="png", dpi=_DPI)
    plt.close(figure)  # or the notebook would draw it a second time
    return Picture(buffer.getvalue(), str(ax.get_label()), round(figure.get_size_inches()[0] * _DPI))
