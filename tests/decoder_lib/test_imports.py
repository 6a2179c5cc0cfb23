"""Which way the imports run."""

from __future__ import annotations

import ast
import graphlib
import importlib
import subprocess
import sys
import warnings
from pathlib import Path
from types import ModuleType

import pytest

import decoder_lib
from decoder_lib import plots, widgets
from decoder_lib.internal.moved import MOVED

PACKAGE = Path(decoder_lib.__file__).parent
MODULES = {
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}
# What may need matplotlib and ipywidgets; of the views all but the side that computes.
DRAWING = ("decoder_lib.plots", "decoder_lib.widgets", "decoder_lib.views")
COMPUTES = ("compute", "situation", "runs", "state")


def draws(name: str) -> bool:
    return name.startswith(DRAWING) and name.rsplit(".", 1)[1] not in COMPUTES


def imported(path: Path) -> set[str]:
    """Full names of all that a module imports; of `from package import name`, both parts together too."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name} imports relatively"
            names |= {node.module or ""} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def siblings(name: str) -> set[str]:
    """The package's own modules among them, the package itself left out: it gathers all others."""
    return (imported(MODULES[name]) & MODULES.keys()) - {"decoder_lib"}


def test_importing_the_library_draws_nothing_in() -> None:
    """Bug: a student without a screen, or without the course installed, can't import the decoder."""
    program = "import decoder_lib, sys; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = set(answer.stdout.split())
    assert "numpy" in loaded
    drawing, grading = {"matplotlib", "ipywidgets", "IPython"}, {"course", "nbgrader"}
    assert not loaded & (drawing | grading | {"torch", "scipy", "tokenizers"})


@pytest.mark.parametrize("name", MODULES)
def test_a_module_imports_what_lies_below_it(name: str) -> None:
    """Bug: the decoder comes to know the course or its grading, or a plain module the pictures."""
    tops = {full.split(".")[0] for full in imported(MODULES[name])}
    allowed = sys.stdlib_module_names | {"numpy", "decoder_lib"}
    if name == "decoder_lib.pretrained":
        allowed |= {"tokenizers"}  # an extra, imported when a vocabulary is read
    assert tops - allowed <= ({"matplotlib", "ipywidgets", "IPython"} if draws(name) else set())
    assert draws(name) or not any(draws(sibling) for sibling in siblings(name))


def test_imports_make_no_circle() -> None:
    """Bug: two modules need each other, and which one works depends on which is imported first."""
    graph = {name: siblings(name) for name in MODULES}
    assert graph["decoder_lib.model"] >= {"decoder_lib.generation", "decoder_lib.internal.step"}
    graphlib.TopologicalSorter(graph).prepare()


def test_every_public_name_is_there_and_says_what_it_is() -> None:
    """Bug: a name is exported that does not exist, or has no docstring to look up in a notebook."""
    assert sorted(decoder_lib.__all__) == sorted(set(decoder_lib.__all__))
    for name in decoder_lib.__all__:
        assert getattr(decoder_lib, name).__doc__


OLD_NAMES = {  # old modules, and public names that notebooks could import from them
    "decoder_lib.arguments": ["as_prompt", "check_integer", "check_number", "Seed", "TokenIds"],
    "decoder_lib.batch_cache": ["BatchCache"],
    "decoder_lib.interface": ["LanguageModel"],
    "decoder_lib.numerics": ["softmax", "log_softmax"],
    "decoder_lib.step": ["TokenStep"],
    "decoder_lib.plots.draw": ["plot_draw"],
    "decoder_lib.plots.endings": ["plot_endings"],
    "decoder_lib.plots.fits": ["plot_fits"],
    "decoder_lib.plots.growth": ["plot_growth"],
    "decoder_lib.plots.loop": ["plot_loop"],
    "decoder_lib.plots.paths": ["plot_paths"],
    "decoder_lib.plots.positions": ["plot_positions_read"],
    "decoder_lib.plots.prefixes": ["plot_prefixes"],
    "decoder_lib.plots.rereading": ["plot_rereading"],
    "decoder_lib.plots.rounds": ["plot_rounds"],
    "decoder_lib.plots.running_product": ["plot_running_product"],
    "decoder_lib.plots.score_rows": ["plot_score_rows"],
    "decoder_lib.plots.side_by_side": ["plot_side_by_side"],
    "decoder_lib.plots.style": ["INK"],
    "decoder_lib.plots.token_rows": ["plot_token_rows"],
    "decoder_lib.plots.visibility": ["plot_visible"],
    "decoder_lib.plots.windows": ["plot_windows"],
    "decoder_lib.widgets.batch": ["batch_view"],
    "decoder_lib.widgets.cache": ["cache_view"],
    "decoder_lib.widgets.chain_rule": ["chain_rule_view"],
    "decoder_lib.widgets.controls": ["bind"],
    "decoder_lib.widgets.generation": ["generation_explorer"],
    "decoder_lib.widgets.markup": ["table"],
    "decoder_lib.widgets.search": ["search_view"],
    "decoder_lib.widgets.view": ["View"],
    "decoder_lib.widgets.window": ["window_view"],
    "decoder_lib.exploring.cached": ["cached_run_of"],
    "decoder_lib.exploring.chain": ["chain_of"],
    "decoder_lib.exploring.rounds": ["rounds_of"],
    "decoder_lib.exploring.runs": ["run_of"],
    "decoder_lib.exploring.situation": ["Situation"],
    "decoder_lib.exploring.state": ["State"],
    "decoder_lib.exploring.steps": ["steps_of"],
    "decoder_lib.exploring.tree": ["tree_of"],
    "decoder_lib.exploring.windows": ["windows_of"],
}
IN_PLACE = {"tables": ["Table"], "pretrained": ["read_vocabulary", "read_checkpoint", "TokenizerVocabulary"]}


def test_every_moved_module_is_tried() -> None:
    """Bug: a module is moved and its old name is not tried below."""
    assert OLD_NAMES.keys() == MOVED.keys()


@pytest.mark.parametrize("old", OLD_NAMES)
@pytest.mark.parametrize("statement", ["from {0}.{1} import {2}", "from {0} import {1}", "import {0}.{1}"])
def test_an_old_name_works_and_says_the_new_one(
    old: str, statement: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bug: a notebook of an earlier release fails in its first cell, or nobody learns that a module moved."""
    package, name = old.rsplit(".", 1)
    monkeypatch.delitem(sys.modules, old, raising=False)
    monkeypatch.delitem(vars(importlib.import_module(package)), name, raising=False)
    with pytest.warns(DeprecationWarning, match=f"^{old} has moved; import from {MOVED[old]}$") as caught:
        exec(statement.format(package, name, ", ".join(OLD_NAMES[old])), {"__name__": "somebody's"})
    assert {warning.filename for warning in caught} == {"<string>"}
    moved = sys.modules[old]
    assert getattr(sys.modules[package], name) is moved
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        home = importlib.import_module(MOVED[old])
    for public in OLD_NAMES[old]:
        assert getattr(moved, public) is getattr(home, public)


@pytest.mark.parametrize(
    ("package", "name"), [(decoder_lib, "numerics"), (plots, "paths"), (widgets, "view")]
)
def test_an_old_name_can_be_read_from_the_package(
    package: ModuleType, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bug: `decoder_lib.numerics`, which was there without an import of its own, is gone without a word."""
    old = f"{package.__name__}.{name}"
    monkeypatch.delitem(sys.modules, old, raising=False)
    monkeypatch.delitem(vars(package), name, raising=False)
    with pytest.warns(DeprecationWarning, match=MOVED[old]) as caught:
        assert getattr(getattr(package, name), OLD_NAMES[old][0])
    assert [warning.filename for warning in caught] == [__file__]
    with pytest.raises(AttributeError, match=f"'{package.__name__}' has no attribute 'nothing'"):
        _ = package.nothing


def test_an_unknown_name_is_still_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bug: an old module has any name that is asked for."""
    monkeypatch.delitem(sys.modules, "decoder_lib.plots.paths", raising=False)
    with (
        pytest.warns(DeprecationWarning, match="decoder_lib.plots.paths"),
        pytest.raises(ImportError, match="plot_nothing"),
    ):
        exec("from decoder_lib.plots.paths import plot_nothing")


def test_today_s_names_give_no_warning() -> None:
    """Bug: every notebook of today begins with a warning."""
    program = "\n".join(
        f"from {module.__name__} import {', '.join(module.__all__)}"
        for module in (decoder_lib, plots, widgets)
    )
    subprocess.run([sys.executable, "-W", "error::DeprecationWarning", "-c", program], check=True)


@pytest.mark.parametrize("name", IN_PLACE)
def test_documented_modules_stay_where_they_are(name: str) -> None:
    """Bug: a module that the README or the notebooks name warns of itself."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(f"from decoder_lib.{name} import {', '.join(IN_PLACE[name])}", {"__name__": "somebody's"})
