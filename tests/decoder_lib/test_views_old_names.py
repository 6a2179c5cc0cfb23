"""Modules of pictures and views that have moved: the old import works, and says where the name is now."""

from __future__ import annotations

import importlib
import subprocess
import sys
import warnings

import pytest

from decoder_lib import plots, widgets

OLD = {  # an old module, and a public name that notebooks could import from it
    "decoder_lib.plots.draw": "plot_draw",
    "decoder_lib.plots.endings": "plot_endings",
    "decoder_lib.plots.fits": "plot_fits",
    "decoder_lib.plots.growth": "plot_growth",
    "decoder_lib.plots.loop": "plot_loop",
    "decoder_lib.plots.paths": "plot_paths",
    "decoder_lib.plots.positions": "plot_positions_read",
    "decoder_lib.plots.prefixes": "plot_prefixes",
    "decoder_lib.plots.rereading": "plot_rereading",
    "decoder_lib.plots.rounds": "plot_rounds",
    "decoder_lib.plots.running_product": "plot_running_product",
    "decoder_lib.plots.score_rows": "plot_score_rows",
    "decoder_lib.plots.side_by_side": "plot_side_by_side",
    "decoder_lib.plots.style": "INK",
    "decoder_lib.plots.token_rows": "plot_token_rows",
    "decoder_lib.plots.visibility": "plot_visible",
    "decoder_lib.plots.windows": "plot_windows",
    "decoder_lib.widgets.batch": "batch_view",
    "decoder_lib.widgets.cache": "cache_view",
    "decoder_lib.widgets.chain_rule": "chain_rule_view",
    "decoder_lib.widgets.controls": "bind",
    "decoder_lib.widgets.generation": "generation_explorer",
    "decoder_lib.widgets.markup": "table",
    "decoder_lib.widgets.search": "search_view",
    "decoder_lib.widgets.view": "View",
    "decoder_lib.widgets.window": "window_view",
    "decoder_lib.exploring.cached": "cached_run_of",
    "decoder_lib.exploring.chain": "chain_of",
    "decoder_lib.exploring.rounds": "rounds_of",
    "decoder_lib.exploring.runs": "run_of",
    "decoder_lib.exploring.situation": "Situation",
    "decoder_lib.exploring.state": "State",
    "decoder_lib.exploring.steps": "steps_of",
    "decoder_lib.exploring.tree": "tree_of",
    "decoder_lib.exploring.windows": "windows_of",
}


@pytest.mark.parametrize("module", OLD)
def test_an_old_import_works_and_names_the_new_place(module: str) -> None:
    """Bug: a notebook of last term fails at its first cell, or goes on without a word about the new name."""
    namespace: dict[str, object] = {}
    with pytest.warns(DeprecationWarning, match=f"{module} has moved; import {OLD[module]} from ") as told:
        exec(f"from {module} import {OLD[module]}", namespace)
    home = str(told[0].message).rsplit(" ", 1)[1]
    assert home != module
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert getattr(importlib.import_module(home), OLD[module]) is namespace[OLD[module]]


def test_an_old_module_is_an_attribute_of_its_package() -> None:
    """Bug: `import decoder_lib.plots.windows` works, and the name behind it is not there."""
    namespace: dict[str, object] = {}
    exec("import decoder_lib.plots.windows", namespace)
    with pytest.warns(DeprecationWarning, match="import plot_windows from decoder_lib.plots"):
        exec("found = decoder_lib.plots.windows.plot_windows", namespace)
    assert namespace["found"] is plots.plot_windows


def test_an_unknown_name_is_still_an_error() -> None:
    """Bug: an old module has any name that is asked for."""
    with pytest.raises(ImportError, match="plot_nothing"):
        exec("from decoder_lib.plots.paths import plot_nothing")


def test_today_s_names_give_no_warning() -> None:
    """Bug: every notebook of today begins with a warning."""
    program = "\n".join(
        f"from {module.__name__} import {', '.join(module.__all__)}" for module in (plots, widgets)
    )
    subprocess.run([sys.executable, "-W", "error::DeprecationWarning", "-c", program], check=True)
