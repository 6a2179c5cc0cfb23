"""Inside the file's own process: import the solution, run the checks on it, and report."""

from __future__ import annotations

import builtins
import linecache
import os
import random
import sys
import traceback
import types
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from course.checks.candidate import Call, Candidate, DirectCandidate, StudentError
from course.checks.check import Check, CheckResult, run_check
from course.checks.registry import CHALLENGES
from course.judging import messages
from course.judging.detection import UnknownChallengeError, challenge_of, defined_names
from course.judging.limits import MEBI
from course.judging.process import Send
from course.judging.restoring import Snapshot

LARGEST_SOURCE = 4 * MEBI
LONGEST_MESSAGE = 8_000


def work(send: Send, path: str, challenge: str | None, done: Collection[str], seed: int) -> None:
    """Judge a file, and send what is found as it is found.

    {"challenge": name} once it is known; {"unknown": message} if there is none to be found; {"unreadable":
    message} or {"broken": message} for a file that cannot be read, or imported; {"imported": true}; then for
    each check of the challenge that is not in `done` a record with its name, status, misconception, message.
    """
    builtins.input = _no_one_answers
    snapshot = Snapshot()
    try:
        source = _read(path)
    except OSError as error:
        return send({"unreadable": f"The file cannot be read: {error.strerror or error}."})
    if len(source) > LARGEST_SOURCE:
        return send({"unreadable": messages.too_large(LARGEST_SOURCE)})

    unknown = ""
    try:
        challenge = challenge or challenge_of(defined_names(source))
        send({"challenge": challenge})
    except UnknownChallengeError as error:
        unknown = str(error)
        if error.found:
            return send({"unknown": unknown})

    random.seed(seed)  # a second run gives the same marks, also to code that draws from a global generator
    np.random.seed(seed % 2**32)  # noqa: NPY002
    try:
        namespace, replaced = _import(path, source, snapshot)
    except _BrokenError as error:
        return send({"broken": str(error)} if challenge else {"unknown": f"{unknown}\n{error}"})
    if not challenge:
        try:  # perhaps its functions come from another file beside it
            challenge = challenge_of(name for name, value in namespace.items() if callable(value))
            send({"challenge": challenge})
        except UnknownChallengeError as error:
            return send({"unknown": str(error)})
    send({"imported": True})

    candidate = _OneProcess(namespace)
    for check in CHALLENGES[challenge]:
        if check.name not in done:
            result = _run(check, candidate, namespace, seed)
            replaced = list(dict.fromkeys(replaced + snapshot.restore()))
            send(_record(result, replaced))
    return None


class _BrokenError(Exception):
    """The file cannot be imported. Its text is what the student reads."""


class _OneProcess(DirectCandidate):
    """A candidate whose functions may fork."""

    def call(self, function: str, /, *arguments: object, **keywords: object) -> Call:
        """See `Candidate.call`."""
        with _leaving_copies():
            return super().call(function, *arguments, **keywords)


@contextmanager
def _leaving_copies() -> Iterator[None]:
    """End each copy that the student's code made of this process where it would go on with our work."""
    number, this, leave = os.getpid(), os.getpid, os._exit
    try:
        yield
    finally:
        if this() != number:
            leave(0)


def _read(path: str) -> bytes:
    with Path(path).open("rb") as file:
        return file.read(LARGEST_SOURCE + 1)


def _import(path: str, source: bytes, snapshot: Snapshot) -> tuple[dict[str, Any], list[str]]:
    """The namespace of the file, run as a module that is not the main one, and what it replaced elsewhere."""
    module = types.ModuleType("solution")
    module.__file__ = path
    sys.modules["solution"] = module  # dataclasses look their module up
    # Files beside it can be imported, unless their names are those of libraries.
    sys.path.append(str(Path(path).resolve().parent))
    sys.argv = [path]
    sys.dont_write_bytecode = True
    try:
        code = compile(source, path, "exec", dont_inherit=True)
    except SyntaxError as error:
        raise _BrokenError(messages.no_python(error.msg, error.lineno, error.text or "")) from None
    except Exception as error:  # a null byte, or nested too deeply
        raise _BrokenError(messages.no_python(str(error) or type(error).__name__, None, "")) from None
    raised: BaseException | None = None
    try:
        with _leaving_copies():
            exec(code, vars(module))
    except BaseException as error:
        raised = error
    replaced = snapshot.restore()  # before anything else is done: `str` may be broken
    if raised is not None:
        raise _BrokenError(_import_error(raised, path))
    return vars(module), replaced


def _no_one_answers(prompt: object = "") -> NoReturn:
    raise EOFError("input() was called, and there is no one to type an answer")


def _import_error(error: BaseException, path: str) -> str:
    """What the import raised, and the last line of the file itself that took part."""
    what = str(StudentError.from_exception(error))
    if isinstance(error, SystemExit):
        what = "it calls `sys.exit()`, `exit()` or `quit()`"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    line = lines[-1] if lines else None
    return messages.could_not_import(what, line, linecache.getline(path, line) if line else "")


def _run(check: Check, candidate: Candidate, namespace: dict[str, Any], seed: int) -> CheckResult:
    defined = namespace.get(check.function)
    if callable(defined):
        try:
            return run_check(check, candidate, seed)
        except BaseException as error:  # KeyboardInterrupt, which a notebook lets through
            message = f"`{check.function}` raised {StudentError.from_exception(error)}"
    else:
        message = messages.missing(check.function, defined)
    return CheckResult(check.challenge, check.name, check.function, 0, check.points, "error", None, message)


def _record(result: CheckResult, replaced: list[str]) -> dict[str, Any]:
    message = result.message
    if replaced and result.status != "passed":
        message += messages.replaced(replaced)
    return {
        "check": result.name,
        "status": result.status,
        "misconception": result.misconception,
        "message": message if len(message) <= LONGEST_MESSAGE else message[:LONGEST_MESSAGE] + " ...",
    }
