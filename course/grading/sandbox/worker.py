"""One worker, seen from the trusted side: it answers questions, falsely perhaps, or not at all."""

import base64
import select
import socket
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, TypeGuard

from course.checks.candidate import Call, CandidateLostError, StudentError
from course.grading.errors import SandboxError
from course.grading.inside.codec import UndecodableError, decode, encode
from course.grading.inside.frames import ClosedError, GarbledError, receive, send
from course.grading.limits import Limits
from course.grading.sandbox.served import Registry

_GRACE = 2.0  # seconds for a cell to end in, once it was interrupted
_SENDING = 5.0  # seconds for the other side to read what it is sent
_MOST_TOLD = 20


class WorkerEndedError(CandidateLostError):
    """A worker is of no use any more. Its text completes "... because": "it ended its own process".

    kind : "time" where it took too long, "garbled" where it answered what was not asked, "sandbox" where the
        whole sandbox broke down, "ended" otherwise.
    """

    def __init__(self, reason: str, kind: str) -> None:
        super().__init__(reason)
        self.kind = kind


@dataclass(frozen=True)
class CellRun:
    """What came of a cell.

    outputs : as a notebook file has them, but made by the student's side: of bounded size, else anything.
    interrupted : whether it ran for longer than it may.
    """

    outputs: list[Any]
    interrupted: bool


@dataclass(frozen=True)
class Broken:
    """Why a file could not be imported, as the student's side tells it.

    python : whether it is valid Python at all.
    what : the error.
    line, text : where it was, if that is known.
    """

    python: bool
    what: str
    line: int | None
    text: str


@dataclass(frozen=True)
class Loaded:
    """What came of a file's import.

    kinds : the names that were asked for and are there, each with "" for a function, else its type's name.
    """

    kinds: dict[str, str]
    broken: Broken | None


class Worker:
    """A student's notebook or file at work. Ended for good by anything but an honest answer.

    attempts : what the student's code tried, a sentence's end each, as far as it lets that be told.
    replaced : names that a file replaced in modules that others need, as far as it lets that be told.
    """

    def __init__(
        self,
        channel: socket.socket,
        limits: Limits,
        interrupt: Callable[[], None],
        end: Callable[[], str],
    ) -> None:
        self._channel, self._limits = channel, limits
        self._interrupt, self._end = interrupt, end
        self._registry = Registry()
        self._closed = False
        self.attempts: list[str] = []
        self.replaced: list[str] = []

    def __enter__(self) -> "Worker":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End it, and everything it started."""
        if not self._closed:
            self._closed = True
            self._end()
            self._channel.close()

    def seed(self, seed: int) -> None:
        """Seed the global generators, so that a second run gives the same."""
        self._send({"seed": seed})
        self._receive(self._limits.call_seconds)

    def watch(self, names: Iterable[str]) -> None:
        """Keep the last function, or else the last value, that goes by each of these names after a cell."""
        self._send({"watch": list(names)})
        self._receive(self._limits.call_seconds)

    def defined(self, source: bytes, names: Iterable[str], seconds: float) -> list[str]:
        """Those of the names that a file's text defines at its top level. Raises WorkerEndedError."""
        asked = list(names)
        self._send({"defined": asked, "source": base64.b64encode(source).decode()})
        found = self._receive(seconds).get("defined")
        if not _are_strings(found):
            raise self._ended(GarbledError("names that are none"))
        return [name for name in asked if name in found]

    def load(self, path: str, source: bytes, names: Iterable[str], seconds: float) -> Loaded:
        """Run a file as a module; functions and values are then looked up in it.

        path : where the worker finds the file.
        names : what is asked for of it.

        Raises WorkerEndedError.
        """
        source_text = base64.b64encode(source).decode()
        self._send({"file": path, "source": source_text, "asked": list(names)})
        answer = self._receive(seconds)
        kinds, told = answer.get("kinds"), answer.get("broken")
        if not (isinstance(kinds, dict) and _are_strings(list(kinds.values()))):
            raise self._ended(GarbledError("a file that is none"))
        return Loaded(kinds, None if told is None else self._broken(told))

    def run_cell(
        self, source: str, seconds: float, *, in_words: bool = False, apart: bool = False
    ) -> CellRun:
        """Run a cell; it is interrupted after so many seconds.

        apart : names that were there before mean afterwards what they meant then.
        in_words : show the value of its last line as text only: drawing it is what takes time.

        Raises WorkerEndedError.
        """
        self._send({"cell": source, "in_words": in_words, "apart": apart})
        interrupted = False
        if not select.select([self._channel], [], [], max(seconds, 0.0))[0]:
            interrupted = True
            self._interrupt()
        answer = self._receive(_GRACE)
        outputs = answer.get("outputs")
        if not isinstance(outputs, list):
            raise self._ended(GarbledError("a cell without outputs"))
        return CellRun(outputs, interrupted)

    def value(self, name: str, seconds: float) -> object:
        """A variable of the notebook, as plain data.

        Raises StudentError, a NameError, where there is none; WorkerEndedError.
        """
        self._send({"variable": name})
        answer = self._receive(seconds)
        if answer.get("missing"):
            raise StudentError(("NameError",), f"name {name!r} is not defined")
        return self._decoded(answer.get("value"))

    def call(
        self,
        function: str,
        name: str,
        arguments: tuple[object, ...],
        keywords: Mapping[str, object],
        seconds: float,
    ) -> Call:
        """Call a function of the notebook, and answer what it asks of models and caches meanwhile.

        function : what the check calls it.
        name : of the variable that holds it.
        seconds : for all of it.

        Raises StudentError for whatever it raises, WorkerEndedError.
        """
        self._send(
            {
                "function": function,
                "name": name,
                "arguments": [encode(item, self._registry.refer) for item in arguments],
                "keywords": {key: encode(item, self._registry.refer) for key, item in keywords.items()},
            }
        )
        deadline = time.monotonic() + seconds
        while "ask" in (answer := self._receive(deadline - time.monotonic())):
            try:
                self._send(self._registry.answer(answer["ask"]))
            except UndecodableError as error:
                raise self._ended(error) from None
        if "raised" in answer:
            raise self._student_error(answer["raised"])
        after, named, warnings = answer.get("arguments"), answer.get("keywords"), answer.get("warnings")
        if not (isinstance(after, list) and isinstance(named, dict) and _are_strings(warnings)):
            raise self._ended(GarbledError("a result that is none"))
        if len(after) != len(arguments) or named.keys() != keywords.keys():
            raise self._ended(GarbledError("other arguments than there were"))
        return Call(
            self._decoded(answer.get("result")),
            tuple(self._decoded(item) for item in after),
            {key: self._decoded(item) for key, item in named.items()},
            tuple(warnings),
            answer.get("used_global_state") is True,
        )

    def _broken(self, told: object) -> Broken:
        match told:
            case {"python": bool(python), "what": str(what), "line": int() | None as line, "text": str(text)}:
                return Broken(python, what, line, text)
        raise self._ended(GarbledError("an import that is none"))

    def _student_error(self, told: object) -> StudentError:
        """What the student's function raised; WorkerEndedError where it was told falsely."""
        if isinstance(told, dict):
            kinds, message, warnings = told.get("kinds"), told.get("message"), told.get("warnings")
            if kinds and _are_strings(kinds) and isinstance(message, str) and _are_strings(warnings):
                return StudentError(tuple(kinds), message, tuple(warnings))
        raise self._ended(GarbledError("an error that is none"))

    def _decoded(self, data: object) -> Any:
        try:
            return decode(data, self._registry.resolve)
        except (UndecodableError, MemoryError, RecursionError) as error:
            raise self._ended(error) from None

    def _send(self, message: dict[str, Any]) -> None:
        if self._closed:
            raise WorkerEndedError("it had ended before", "ended")
        try:
            send(self._channel, message, _SENDING)
        except (TimeoutError, ClosedError) as error:
            raise self._ended(error) from None

    def _receive(self, seconds: float) -> dict[str, Any]:
        try:
            answer = receive(self._channel, self._limits.message, max(seconds, 0.0))
        except (TimeoutError, ClosedError, GarbledError) as error:
            raise self._ended(error) from None
        self._note(answer)
        return answer

    def _ended(self, error: Exception) -> WorkerEndedError:
        """End the worker; what to raise."""
        self._closed = True
        try:
            why = self._end()  # before the channel is closed, which it would end by itself at
        except SandboxError:
            self._channel.close()
            return WorkerEndedError("its sandbox broke down", "sandbox")
        self._channel.close()
        if isinstance(error, TimeoutError):
            return WorkerEndedError(why or "it took too long", "ended" if why else "time")
        if isinstance(error, ClosedError):
            return WorkerEndedError(why or "it closed the line to its own process", "ended")
        return WorkerEndedError(f"it answered falsely: {error}", "garbled")

    def _note(self, answer: dict[str, Any]) -> None:
        for name, known in (("attempts", self.attempts), ("replaced", self.replaced)):
            told = answer.get(name)
            if isinstance(told, list):
                new = [line[:300] for line in told[:_MOST_TOLD] if isinstance(line, str)]
                known += [line for line in new if line not in known]


def _are_strings(value: object) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
