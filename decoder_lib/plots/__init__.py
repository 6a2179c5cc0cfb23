"""The pictures of the course, as plain matplotlib functions that draw on Axes and return them.

Nothing is told by colour alone: what is marked carries a hatch, a heavy frame or a word as well. The Axes'
label says in words what the picture shows; `show` hands it to readers who cannot see the picture.
"""

from decoder_lib.plots.distribution import plot_distribution
from decoder_lib.plots.draw import plot_draw
from decoder_lib.plots.endings import plot_endings
from decoder_lib.plots.fits import plot_fits
from decoder_lib.plots.growth import plot_growth
from decoder_lib.plots.loop import plot_loop
from decoder_lib.plots.paths import plot_paths
from decoder_lib.plots.picture import Picture, show
from decoder_lib.plots.positions import plot_positions_read
from decoder_lib.plots.prefixes import plot_prefixes
from decoder_lib.plots.rereading import plot_rereading
from decoder_lib.plots.rounds import plot_rounds
from decoder_lib.plots.running_product import plot_running_product
from decoder_lib.plots.score_rows import plot_score_rows
from decoder_lib.plots.side_by_side import plot_side_by_side
from decoder_lib.plots.token_rows import plot_token_rows
from decoder_lib.plots.visibility import plot_visible
from decoder_lib.plots.windows import plot_windows, windows_of

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
