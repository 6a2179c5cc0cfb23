"""Which positions each query may read when a sequence is read in several passes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from decoder_lib.plots.style import INK, MARKED, PLAIN, titled

_FRESH: dict[str, Any] = {"facecolor": MARKED, "hatch": "//", "linewidth": 1.4}
_CACHED: dict[str, Any] = {"facecolor": PLAIN, "linewidth": 0.6}
_HIDDEN: dict[str, Any] = {"facecolor": "white", "linewidth": 0.8, "linestyle": ":"}
_LEGEND = {"key of the same pass": _FRESH, "key from the cache": _CACHED, "later: may not be read": _HIDDEN}


def plot_visible(chunks: Sequence[int], title: str = "", ax: Axes | None = None) -> Axes:
    """A row a query, a column a key, for a sequence read in passes of `chunks` positions each.

    Marked are the keys that the causal mask lets the query read: computed in the query's own pass (hatched),
    or held since an earlier one (plain). Keys that stand later in the query's own pass are crossed out; a
    column without a box is a position that was not there when the pass ran. Positions count from 0, as in
    arrays.
    """
    total = sum(chunks)
    if ax is None:
        size = (0.5 * total + 2.6, 0.42 * (total + len(chunks)) + 1.1)
        _, ax = plt.subplots(figsize=size, layout="constrained")
    labelled: dict[float, str] = {}
    told: list[str] = []
    held, top = 0, 0
    for number, n in enumerate(chunks, 1):
        T = held + n  # noqa: N806 (the field's letter)
        ax.text(0.04, top + 0.55, f"pass {number}: n = {n}, T = {T}", va="center", fontsize=10, weight="bold")
        for i in range(n):
            row, own = top + 1 + i, held + i
            labelled[row + 0.5] = f"query of position {own}"
            for key in range(T):
                kind = _HIDDEN if key > own else _FRESH if key >= held else _CACHED
                ax.add_patch(Rectangle((key + 0.06, row + 0.08), 0.88, 0.84, edgecolor=INK, **kind))
                if key > own:
                    ax.text(key + 0.5, row + 0.5, "×", ha="center", va="center", fontsize=10)
        asks = f"position {held}" if n == 1 else f"positions {held} to {T - 1}"
        told.append(f"pass {number} has the queries of {asks} and takes {held} keys from the cache")
        held, top = T, top + n + 1
    ax.set_xlim(0, total)
    ax.set_ylim(top, 0)
    ax.set_xticks(np.arange(total) + 0.5, [str(position) for position in range(total)])
    ax.set_xlabel("key and value of position", fontsize=9)
    ax.set_yticks(list(labelled), list(labelled.values()))
    ax.tick_params(length=0, labelsize=9)
    ax.spines[:].set_visible(False)
    ax.set_title(title, fontsize=10, loc="left")
    handles = [Rectangle((0, 0), 1, 1, edgecolor=INK, label=name, **kind) for name, kind in _LEGEND.items()]
    ax.legend(handles=handles, loc="upper right", frameon=False, fontsize=9, handlelength=1.4)
    ax.set_label(
        f"Queries by keys{titled(title)}. Each query reads every position up to its own and none after it: "
        f"{'; '.join(told)}."
    )
    return ax
