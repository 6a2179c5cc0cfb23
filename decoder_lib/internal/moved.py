"""Old module names: importing one still works, and a DeprecationWarning names the new place."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

_PLOTS = (
    "draw endings fits growth loop paths positions prefixes rereading rounds running_product score_rows "
    "side_by_side token_rows visibility windows"
)
_WIDGETS = "batch cache chain_rule generation search window"
_TOPICS = {
    "steps": "generation",
    "chain": "scoring",
    "tree": "search",
    "cached": "cache",
    "rounds": "batch",
    "windows": "truncation",
}
# Each old module, and the one that now holds its names.
MOVED: dict[str, str] = {
    "decoder_lib.arguments": "decoder_lib.internal.arguments",
    "decoder_lib.batch_cache": "decoder_lib.cache",
    "decoder_lib.interface": "decoder_lib.internal.interface",
    "decoder_lib.numerics": "decoder_lib.transformer",
    "decoder_lib.step": "decoder_lib.internal.step",
    **{f"decoder_lib.plots.{old}": "decoder_lib.plots" for old in _PLOTS.split()},
    "decoder_lib.plots.style": "decoder_lib.plots.cells",
    **{f"decoder_lib.widgets.{old}": "decoder_lib.widgets" for old in _WIDGETS.split()},
    **{f"decoder_lib.widgets.{same}": f"decoder_lib.views.{same}" for same in ("controls", "markup", "view")},
    **{
        f"decoder_lib.exploring.{old}": f"decoder_lib.views.{topic}.compute" for old, topic in _TOPICS.items()
    },
    **{
        f"decoder_lib.exploring.{same}": f"decoder_lib.views.{same}"
        for same in ("runs", "situation", "state")
    },
}
_EMPTY = "decoder_lib.exploring"  # was a package of these modules, and had no names of its own


class _OldNames(MetaPathFinder, Loader):
    """Finds a moved module under its old name, and fills it with what the new one holds."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname == _EMPTY:
            return ModuleSpec(fullname, self, is_package=True)
        return ModuleSpec(fullname, self) if fullname in MOVED else None

    def exec_module(self, module: ModuleType) -> None:
        if module.__name__ == _EMPTY:
            return
        warnings.warn(_notice(module.__name__), DeprecationWarning, stacklevel=2)  # where the import stands
        names = vars(import_module(MOVED[module.__name__]))
        vars(module).update({name: value for name, value in names.items() if name[:2] != "__"})


_finder = _OldNames()


def _notice(old: str) -> str:
    return f"{old} has moved; import from {MOVED[old]}"


def answer_old_names(package: str) -> None:
    """Let the modules that a package no longer has be imported, and be read as attributes of it."""

    def attribute(name: str) -> ModuleType:
        old = f"{package}.{name}"
        if old not in MOVED:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        warnings.warn(_notice(old), DeprecationWarning, stacklevel=2)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            return import_module(old)

    if _finder not in sys.meta_path:
        sys.meta_path.append(_finder)
    names = vars(sys.modules[package])
    names["__getattr__"] = attribute
    names.setdefault("__path__", [])  # of one that is a single file now: the import system looks for it
