"""A plain Python file as a module: the names that it defines, and what it replaced in other modules."""

import ast
import builtins
import copy
import json
import math
import os
import random
import re
import sys
import time
import traceback
import types
import warnings
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

import numpy as np

from course.checks.candidate import StudentError

_SHARED = (builtins, copy, json, math, os, random, time, warnings, np, np.linalg, np.random)
_STREAMS = ("stdin", "stdout", "stderr", "modules")


class Snapshot:
    """What stands in the modules that a worker goes on with, in `decoder_lib`, and in `sys.modules`."""

    def __init__(self) -> None:
        own = {
            kind: [module for name, module in sys.modules.items() if name.partition(".")[0] == kind]
            for kind in ("course", "decoder_lib")
        }
        self._needed = [_state(module) for module in (*_SHARED, *own["course"])]
        self._needed.append(("sys", vars(sys), {name: getattr(sys, name) for name in _STREAMS}))
        self._others = [_state(module) for module in own["decoder_lib"]]
        self._others.append(("sys.modules", sys.modules, dict(sys.modules)))

    def restore(self, *, needed_only: bool) -> list[str]:
        """Put back what was replaced or taken away since; returns the names, like "numpy.exp".

        needed_only : only what the worker goes on with, which takes a tenth of a millisecond.
        """
        # Methods and operators only: the builtins may be the very thing that is broken.
        changed: list[str] = []
        for owner, now, before in self._needed if needed_only else self._needed + self._others:
            for name in before:
                if name not in now or now[name] is not before[name]:
                    now[name] = before[name]
                    changed += [owner + "." + name]
        return changed


def _state(module: types.ModuleType) -> tuple[str, dict[str, Any], dict[str, Any]]:
    return module.__name__, vars(module), dict(vars(module))


class File:
    """A student's file, run as a module that is not the main one.

    path : where it lies here. Files beside it can be imported, unless their names are those of libraries.
    namespace : what the module holds.
    broken : what kept it from being imported, in plain data; None where nothing did.
    replaced : what it replaced elsewhere, each name once; the originals are back.
    """

    def __init__(self, path: str, source: bytes) -> None:
        builtins.input = _no_one_answers
        self._snapshot = Snapshot()
        self.replaced: list[str] = []
        module = types.ModuleType("solution")
        module.__file__ = path
        self.namespace: dict[str, Any] = vars(module)
        sys.modules["solution"] = module  # dataclasses look their module up
        sys.path.append(path.rpartition("/")[0])
        sys.argv = [path]
        self.broken = self._run(path, source)

    def restore(self, *, needed_only: bool = True) -> None:
        """Put back what was replaced since; see `Snapshot.restore`."""
        changed = self._snapshot.restore(needed_only=needed_only)
        self.replaced += [name for name in changed if name not in self.replaced]

    def kinds(self, names: Iterable[str]) -> dict[str, str]:
        """Of these names those that the file defines, each with "" for a function, else its type's name."""
        found = {name: self.namespace[name] for name in names if name in self.namespace}
        return {name: "" if callable(value) else type(value).__name__ for name, value in found.items()}

    def _run(self, path: str, source: bytes) -> dict[str, Any] | None:
        try:
            code = compile(source, path, "exec", dont_inherit=True)
        except SyntaxError as error:
            return {"python": False, "what": error.msg, "line": error.lineno, "text": error.text or ""}
        except Exception as error:  # a null byte, or nested too deeply
            return {"python": False, "what": str(error) or type(error).__name__, "line": None, "text": ""}
        raised: BaseException | None = None
        try:
            exec(code, self.namespace)
        except BaseException as error:
            raised = error
        self.restore(needed_only=False)  # before anything else is done: `str` may be broken
        return None if raised is None else _told(raised, path, source)


def defined_names(source: bytes) -> set[str]:
    """The names that a file's text defines at its top level.

    Imported names do not count: a solution of one challenge may import the library's function of another.
    """
    try:
        return set(_bound(ast.parse(source).body))
    except Exception:  # no Python (yet): what looks like a definition tells what was meant
        return set(re.findall(r"^def\s+(\w+)", source.decode("utf-8", "replace"), re.MULTILINE))


def _bound(body: Iterable[ast.AST]) -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif not isinstance(node, ast.Lambda):
            yield from _bound(ast.iter_child_nodes(node))  # also what stands in an `if` or a `try`


def _told(error: BaseException, path: str, source: bytes) -> dict[str, Any]:
    """What the import raised, and the last line of the file itself that took part."""
    what = str(StudentError.from_exception(error))
    if isinstance(error, SystemExit):
        what = "it calls `sys.exit()`, `exit()` or `quit()`"
    places = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    line = places[-1] if places else None
    lines = source.decode("utf-8", "replace").splitlines()
    text = lines[line - 1] if line and line <= len(lines) else ""
    return {"python": True, "what": what, "line": line, "text": text}


def _no_one_answers(prompt: object = "") -> NoReturn:
    raise EOFError("input() was called, and there is no one to type an answer")
