"""Put back what a solution replaced in modules that the checks need as well."""

from __future__ import annotations

import builtins
import copy
import json
import math
import os
import random
import sys
import time
import warnings
from types import ModuleType

import numpy as np

_SHARED = (builtins, copy, json, math, os, random, time, warnings, np, np.linalg, np.random)
_STREAMS = ("stdin", "stdout", "stderr", "modules")


class Snapshot:
    """What stands in the shared modules, in those of the checks, and in `sys.modules`."""

    def __init__(self) -> None:
        own = [
            module
            for name, module in sys.modules.items()
            if name.partition(".")[0] in ("course", "decoder_lib") and isinstance(module, ModuleType)
        ]
        self._kept = [(module.__name__, vars(module), dict(vars(module))) for module in (*_SHARED, *own)]
        self._kept.append(("sys", vars(sys), {name: getattr(sys, name) for name in _STREAMS}))
        self._kept.append(("sys.modules", sys.modules, dict(sys.modules)))

    def restore(self) -> list[str]:
        """Put back what was replaced or taken away since; returns the names, like "numpy.exp"."""
        # Methods and operators only: the builtins may be the very thing that is broken.
        changed: list[str] = []
        for owner, now, before in self._kept:
            for name in before:
                if name not in now or now[name] is not before[name]:
                    now[name] = before[name]
                    changed += [owner + "." + name]
        return changed
