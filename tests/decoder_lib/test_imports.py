"""Which way the imports run."""

from __future__ import annotations

import ast
import graphlib
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import decoder_lib
from decoder_lib.internal.moved import MOVED

PACKAGE = Path(decoder_lib.__file__).parent
MODULES = {
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}
DRAWING = ("decoder_lib.plots", "decoder_lib.widgets")  # what may need matplotlib and ipywidgets


def draws(name: str) -> bool:
    return name.startswith(DRAWING)


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


OLD_NAMES = {
    "arguments": ["as_prompt", "check_integer", "check_number", "Seed", "TokenIds"],
    "batch_cache": ["BatchCache"],
    "interface": ["LanguageModel"],
    "numerics": ["softmax", "log_softmax"],
    "step": ["TokenStep"],
}
IN_PLACE = {"tables": ["Table"], "pretrained": ["read_vocabulary", "read_checkpoint", "TokenizerVocabulary"]}


def test_every_moved_module_is_tried() -> None:
    """Bug: a module is moved and its old name is not tried below."""
    assert {f"decoder_lib.{name}" for name in OLD_NAMES} == MOVED.keys()


@pytest.mark.parametrize("name", OLD_NAMES)
@pytest.mark.parametrize("statement", ["from decoder_lib.{0} import {1}", "from decoder_lib import {0}"])
def test_an_old_name_works_and_says_the_new_one(
    name: str, statement: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bug: a notebook of an earlier release fails in its first cell, or nobody learns that a module moved."""
    old = f"decoder_lib.{name}"
    monkeypatch.delitem(sys.modules, old, raising=False)
    monkeypatch.delitem(vars(decoder_lib), name, raising=False)
    with pytest.warns(DeprecationWarning, match=f"{old} has moved; import from {MOVED[old][0]}") as caught:
        exec(statement.format(name, ", ".join(OLD_NAMES[name])), {"__name__": "somebody's"})
    assert {warning.filename for warning in caught} == {"<string>"}
    moved, home = sys.modules[old], sys.modules[MOVED[old][0]]
    for public in OLD_NAMES[name]:
        assert getattr(moved, public) is getattr(home, public)


def test_an_old_name_can_be_read_from_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bug: `decoder_lib.numerics`, which was there without an import of its own, is gone without a word."""
    monkeypatch.delitem(sys.modules, "decoder_lib.numerics", raising=False)
    monkeypatch.delitem(vars(decoder_lib), "numerics", raising=False)
    with pytest.warns(DeprecationWarning, match="decoder_lib.transformer") as caught:
        assert decoder_lib.numerics.softmax
    assert [warning.filename for warning in caught] == [__file__]
    with pytest.raises(AttributeError, match="'decoder_lib' has no attribute 'nothing'"):
        _ = decoder_lib.nothing


@pytest.mark.parametrize("name", IN_PLACE)
def test_documented_modules_stay_where_they_are(name: str) -> None:
    """Bug: a module that the README or the notebooks name warns of itself."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(f"from decoder_lib.{name} import {', '.join(IN_PLACE[name])}", {"__name__": "somebody's"})
