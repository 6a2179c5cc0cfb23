"""Live views of a run, for JupyterLab: step through it, change anything, see why.

    explore = State()
    generation_explorer(explore)

All views of one `State` show the same situation. They draw what `decoder_lib.exploring` computes, and hold no
logic of generation. Where no widget can run, each shows itself as a table and a picture.
"""

from decoder_lib.exploring.state import State
from decoder_lib.widgets.batch import batch_view
from decoder_lib.widgets.cache import cache_view
from decoder_lib.widgets.chain_rule import chain_rule_view
from decoder_lib.widgets.generation import generation_explorer
from decoder_lib.widgets.search import search_view
from decoder_lib.widgets.window import window_view

__all__ = [
    "State",
    "batch_view",
    "cache_view",
    "chain_rule_view",
    "generation_explorer",
    "search_view",
    "window_view",
]
