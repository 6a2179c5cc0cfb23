"""Which way the imports run."""

from __future__ import annotations

import ast
import graphlib
import subprocess
import sys
from pathlib import Path

import pytest

import decoder_lib

PACKAGE = Path(decoder_lib.__file__).parent
MODULES = {
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}
# What may need matplotlib and ipywidgets; of the views all but the side that computes.
DRAWING = ("decoder_lib.plots", "decoder_lib.widgets", "decoder_lib.exploring", "decoder_lib.views")
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
    assert graph["decoder_lib.model"] >= {"decoder_lib.generation", "decoder_lib.truncation"}
    graphlib.TopologicalSorter(graph).prepare()


def test_every_public_name_is_there_and_says_what_it_is() -> None:
    """Bug: a name is exported that does not exist, or has no docstring to look up in a notebook."""
    assert sorted(decoder_lib.__all__) == sorted(set(decoder_lib.__all__))
    for name in decoder_lib.__all__:
        assert getattr(decoder_lib, name).__doc__
