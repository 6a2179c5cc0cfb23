"""Live views of a run, for JupyterLab: step through it, change anything, see why.

    explore = State()
    generation_explorer(explore)

All views of one `State` show the same situation. They draw what the `compute` module of their topic in
`decoder_lib.views` says, and hold no logic of generation. Without widgets, each shows a table and a picture.
"""

from decoder_lib.internal.moved import answer_old_names
from decoder_lib.views.batch.draw import batch_view
from decoder_lib.views.cache.draw import cache_view
from decoder_lib.views.generation.draw import generation_explorer
from decoder_lib.views.scoring.draw import chain_rule_view
from decoder_lib.views.search.draw import search_view
from decoder_lib.views.state import State
from decoder_lib.views.truncation.draw import window_view

__all__ = [
    "State",
    "batch_view",
    "cache_view",
    "chain_rule_view",
    "generation_explorer",
    "search_view",
    "window_view",
]

answer_old_names(__name__)
