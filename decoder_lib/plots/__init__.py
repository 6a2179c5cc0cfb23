"""The pictures of the course, as plain matplotlib functions that draw on Axes and return them.

Nothing is told by colour alone: what is marked carries a hatch, a heavy frame or a word as well. The Axes'
label says in words what the picture shows; `show` hands it to readers who cannot see the picture.
"""

from decoder_lib.plots.distribution import plot_distribution
from decoder_lib.plots.picture import Picture, show
from decoder_lib.plots.prefixes import plot_prefixes

__all__ = ["Picture", "plot_distribution", "plot_prefixes", "show"]
