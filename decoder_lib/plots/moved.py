"""Old module names: a public name imported from one of them is found, and a warning says where it is now."""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from types import ModuleType
from typing import Any


def answer(package: str, homes: dict[str, str]) -> None:
    """Let names be imported from modules that `package` no longer has, each from its new home."""
    for old, home in homes.items():
        moved = _Moved(f"{package}.{old}", home)
        sys.modules[moved.__name__] = moved
        setattr(sys.modules[package], old, moved)  # as the import of a module does


class _Moved(ModuleType):
    """Stands where a module was, and imports its new home when somebody asks for a name."""

    def __init__(self, name: str, home: str) -> None:
        super().__init__(name, f"Moved to {home}.")
        self._home = home

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # asked by the import system, not by a reader
            raise AttributeError(name)
        found = getattr(import_module(self._home), name)
        message = f"{self.__name__} has moved; import {name} from {self._home}"
        warnings.warn(message, DeprecationWarning, stacklevel=2)
        return found
