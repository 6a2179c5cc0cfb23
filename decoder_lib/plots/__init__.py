"""The pictures of the course, as plain matplotlib functions that draw on Axes and return them.

Each topic has one file, under the name that the topic has in the decoder. Nothing is told by colour alone:
what is marked carries a hatch, a heavy frame or a word as well. The Axes' label says in words what the
picture shows, and `show` hands it to readers who cannot see the picture.
"""

from decoder_lib.internal.moved import answer_old_names
from decoder_lib.plots.batch import plot_rounds
from decoder_lib.plots.cache import (
    plot_fits,
    plot_growth,
    plot_positions_read,
    plot_rereading,
    plot_visible,
)
from decoder_lib.plots.distribution import plot_distribution, plot_score_rows, plot_side_by_side
from decoder_lib.plots.generation import plot_endings, plot_loop, plot_prefixes, plot_token_rows
from decoder_lib.plots.picture import Picture, show
from decoder_lib.plots.scoring import plot_running_product
from decoder_lib.plots.search import plot_paths
from decoder_lib.plots.selection import plot_draw
from decoder_lib.plots.truncation import plot_windows, windows_of

__all__ = [
    "Picture",
    "plot_distribution",
    "plot_draw",
    "plot_endings",
    "plot_fits",
    "plot_growth",
    "plot_loop",
    "plot_paths",
    "plot_positions_read",
    "plot_prefixes",
    "plot_rereading",
    "plot_rounds",
    "plot_running_product",
    "plot_score_rows",
    "plot_side_by_side",
    "plot_token_rows",
    "plot_visible",
    "plot_windows",
    "show",
    "windows_of",
]

answer_old_names(__name__)
