"""Old module names: importing one still works, and a DeprecationWarning names the new place."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

# Each old module, and the modules that now hold its names.
MOVED: dict[str, tuple[str, ...]] = {
    "decoder_lib.arguments": ("decoder_lib.internal.arguments",),
    "decoder_lib.batch_cache": ("decoder_lib.cache",),
    "decoder_lib.interface": ("decoder_lib.internal.interface",),
    "decoder_lib.numerics": ("decoder_lib.transformer",),
    "decoder_lib.step": ("decoder_lib.internal.step",),
}


class _OldNames(MetaPathFinder, Loader):
    """Finds a moved module under its old name, and fills it with what the new ones hold."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(fullname, self) if fullname in MOVED else None

    def exec_module(self, module: ModuleType) -> None:
        warnings.warn(_notice(module.__name__), DeprecationWarning, stacklevel=2)  # where the import stands
        for home in MOVED[module.__name__]:
            names = vars(import_module(home))
            vars(module).update({name: value for name, value in names.items() if name[:2] != "__"})


def _notice(old: str) -> str:
    return f"{old} has moved; import from {' or '.join(MOVED[old])}"


def answer_old_names(package: str) -> None:
    """Let the old names be imported, and be read as attributes of the package."""

    def attribute(name: str) -> ModuleType:
        old = f"{package}.{name}"
        if old not in MOVED:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        warnings.warn(_notice(old), DeprecationWarning, stacklevel=2)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            return import_module(old)

    sys.meta_path.append(_OldNames())
    vars(sys.modules[package])["__getattr__"] = attribute
