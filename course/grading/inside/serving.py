"""A worker's whole work: run cells or a file, look variables up, and call functions, as it is asked."""

import base64
import os
import random
import socket
import sys
from contextlib import suppress
from typing import Any

import numpy as np

from course.checks.candidate import DirectCandidate, StudentError
from course.grading.inside.attempts import Attempts
from course.grading.inside.codec import decode, encode
from course.grading.inside.files import File, defined_names
from course.grading.inside.frames import ClosedError, receive, send
from course.grading.inside.shell import Shell
from course.grading.inside.stand_ins import StandIn, raised

MOST = 2**30  # the trusted side is trusted
_NOTHING = object()


class Serving:
    """Answers one message after the other.

    channel : to the trusted side.
    """

    def __init__(self, channel: socket.socket, shell: Shell, attempts: Attempts) -> None:
        self._channel, self._shell, self._attempts = channel, shell, attempts
        self._stand_ins: dict[int, StandIn] = {}
        self._asked_for: dict[str, Any] = {}
        self._deleted: dict[str, Any] = {}
        self._names: dict[str, Any] = shell.user_ns  # of the notebook, or of the file
        self._file: File | None = None

    def serve(self) -> None:
        """Answer until the trusted side closes the channel, which raises ClosedError."""
        sys.stdout, sys.stderr = self._shell.streams
        this, leave = os.getpid(), os._exit
        os.register_at_fork(after_in_child=self._channel.close)  # a copy does not ask or answer for this one
        while True:
            message = receive(self._channel, MOST)
            answer = self._answer(message)
            if os.getpid() != this:  # a copy of this process that the student's code made does not answer
                leave(0)
            answer["attempts"] = self._attempts.noted
            if self._file:
                answer["replaced"] = self._file.replaced
            send(self._channel, answer)

    def _answer(self, message: dict[str, Any]) -> dict[str, Any]:
        try:
            if "seed" in message:
                random.seed(message["seed"])
                np.random.seed(message["seed"] % 2**32)  # noqa: NPY002
                return {}
            if "watch" in message:
                self._asked_for = dict.fromkeys(message["watch"], _NOTHING)
                return {}
            if "defined" in message:
                names = defined_names(base64.b64decode(message["source"]))
                return {"defined": [name for name in message["defined"] if name in names]}
            if "file" in message:
                self._file = File(message["file"], base64.b64decode(message["source"]))
                self._names = self._file.namespace
                return {"broken": self._file.broken, "kinds": self._file.kinds(message["asked"])}
            if "cell" in message:
                return {"outputs": self._run(message["cell"], message["in_words"], message["apart"])}
            if "variable" in message:
                return self._look_up(message["variable"])
            return self._call(message)
        except KeyboardInterrupt:  # came just after the cell had ended
            return {"outputs": self._shell.recorder.outputs}

    def _run(self, source: str, in_words: bool, apart: bool) -> list[dict[str, Any]]:
        names = self._shell.user_ns
        before = dict(names)
        self._attempts.listening = True
        try:
            return self._shell.run(source, in_words=in_words)
        finally:
            self._attempts.listening = False
            if apart:
                names.update(before)
            self._deleted |= {name: value for name, value in before.items() if name not in names}
            self._keep()

    def _keep(self) -> None:
        """Remember what is asked for: a later cell may delete it, or call a result by a function's name."""
        for name, kept in self._asked_for.items():
            value = self._shell.user_ns.get(name, _NOTHING)
            if value is not _NOTHING and (callable(value) or not callable(kept)):
                self._asked_for[name] = value

    def _find(self, name: str) -> Any:
        kept = self._asked_for.get(name, _NOTHING)
        return self._names.get(name, _NOTHING) if kept is _NOTHING else kept

    def _look_up(self, name: str) -> dict[str, Any]:
        value = self._find(name)
        if value is _NOTHING:
            return {"missing": True}
        return {"value": encode(value, self._refer)}

    def _call(self, message: dict[str, Any]) -> dict[str, Any]:
        arguments = [decode(item, self._stand_in) for item in message["arguments"]]
        keywords = {name: decode(item, self._stand_in) for name, item in message["keywords"].items()}
        name = message["function"]
        for deleted, value in self._deleted.items():  # a function may use what `%reset` took away
            self._shell.user_ns.setdefault(deleted, value)
        function = self._find(message["name"])
        candidate = DirectCandidate({} if function is _NOTHING else {name: function})
        raised: BaseException | None = None
        self._attempts.listening = True
        try:
            call = candidate.call(name, *arguments, **keywords)
        except (StudentError, KeyboardInterrupt) as error:
            raised = error
        finally:
            self._attempts.listening = False
            if self._file:
                self._file.restore()
                _reap()
        if raised is not None:
            told = raised if isinstance(raised, StudentError) else StudentError.from_exception(raised)
            return self._error(told)
        return {
            "result": encode(call.result, self._refer),
            "arguments": [encode(item, self._refer) for item in call.arguments],
            "keywords": {name: encode(item, self._refer) for name, item in call.keywords.items()},
            "warnings": list(call.warnings[:20]),
            "used_global_state": call.used_global_state,
        }

    def _error(self, error: StudentError) -> dict[str, Any]:
        warnings = list(error.warnings[:20])
        return {"raised": {"kinds": list(error.kinds[:20]), "message": error.message, "warnings": warnings}}

    def _refer(self, value: object) -> dict[str, Any] | None:
        if type(value) is StandIn:
            return {"$": "served", "number": vars(value)["_number"]}
        return None

    def _stand_in(self, data: dict[str, Any]) -> StandIn:
        """The stand-in for a number; the same one each time."""
        number = data["number"]
        if number not in self._stand_ins:
            constants = {
                name: decode(value, self._stand_in) for name, value in data.get("constants", {}).items()
            }
            self._stand_ins[number] = StandIn(
                number, data.get("type", "object"), constants, data.get("methods", []), self._ask
            )
        return self._stand_ins[number]

    def _ask(
        self, asked: StandIn, name: str, arguments: tuple[Any, ...] | None, keywords: dict[str, Any]
    ) -> Any:
        """Ask the trusted side in the middle of a call."""
        question: dict[str, Any] = {"number": vars(asked)["_number"], "name": name}
        if arguments is not None:
            question["arguments"] = [encode(item, self._refer) for item in arguments]
            question["keywords"] = {key: encode(item, self._refer) for key, item in keywords.items()}
        listening, self._attempts.listening = self._attempts.listening, False
        try:
            send(self._channel, {"ask": question})
            answer = receive(self._channel, MOST)
        finally:
            self._attempts.listening = listening
        if "raised" in answer:
            raise raised(answer["raised"]["kinds"], answer["raised"]["message"])
        return decode(answer["value"], self._stand_in)


def _reap() -> None:
    """Let go of children that have ended: a function that forks at each call would seem to have many."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def begin(channel: socket.socket, shell: Shell, attempts: Attempts) -> None:
    """The life of a worker, once it is confined. Does not return."""
    leave = os._exit  # whatever the student's code does to the module
    try:
        Serving(channel, shell, attempts).serve()
    except ClosedError:
        leave(0)
    finally:
        leave(os.EX_SOFTWARE)
