"""Run a task in a process of its own, follow what it sends, and leave nothing of it alive."""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from course.judging import descendants
from course.judging.limits import Limits, confine

Send = Callable[[dict[str, Any]], None]

LONGEST_LINE = 64 * 1024  # bytes; a report of one check is a tenth of it
MOST_BYTES = 1024 * 1024
TICK = 0.1  # seconds between two looks at the process itself
GRACE = 1.0  # seconds to end in, once a process has closed its pipe


class GarbledError(Exception):
    """What came back is not what was agreed."""


@dataclass(frozen=True)
class Ending:
    """How a process ended.

    kind : "ended" by itself or by a signal that we did not send; "timeout"; "garbled", where it sent what was
        not agreed; "crowded", where it had too many children.
    code : exit status; the negative number of a signal.
    seconds : what it had been given last.
    """

    kind: Literal["ended", "timeout", "garbled", "crowded"]
    code: int
    seconds: float


def run_apart(
    task: Callable[[Send], None], limits: Limits, seconds: float, receive: Callable[[dict[str, Any]], float]
) -> Ending:
    """Fork, run `task(send)` in the child, and give each record that it sends to `receive`.

    seconds : until the first record.
    receive : returns the seconds until the next one; raises GarbledError for a record that cannot be.

    Must be called in a process with one thread, and with no other children.
    """
    reading, writing = os.pipe()
    gc.freeze()  # the child's collector touches no page that it shares
    parent = os.getpid()
    child = os.fork()
    if not child:
        _be_the_child(task, limits, writing, parent)
    os.close(writing)
    status = 0
    try:
        kind, given = _follow(child, reading, limits, seconds, receive)
    finally:
        os.close(reading)
        status = descendants.end(child)
    return Ending(kind, os.waitstatus_to_exitcode(status), given)


def _be_the_child(task: Callable[[Send], None], limits: Limits, pipe: int, parent: int) -> None:
    """The child's whole life."""
    leave = os._exit  # whatever the student's code does to the module
    try:
        os.setsid()
        descendants.die_with(parent)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        nothing = os.open(os.devnull, os.O_RDWR)
        for standard in (0, 1, 2):
            os.dup2(nothing, standard)
        os.closerange(3, pipe)
        os.closerange(pipe + 1, 1024)
        # A copy that the student's code makes of this process must not report.
        os.register_at_fork(after_in_child=lambda: os.close(pipe))
        confine(limits)
        task(_sender(pipe))
        leave(0)
    finally:
        leave(os.EX_SOFTWARE)


def _sender(pipe: int) -> Send:
    write, leave, dumps = os.write, os._exit, json.dumps  # whatever the student's code does to the modules

    def send(record: dict[str, Any]) -> None:
        line = dumps(record).encode() + b"\n"
        try:
            while line:
                line = line[write(pipe, line) :]
        except OSError:
            leave(0)

    return send


def _follow(
    child: int, pipe: int, limits: Limits, seconds: float, receive: Callable[[dict[str, Any]], float]
) -> tuple[Literal["ended", "timeout", "garbled", "crowded"], float]:
    """Read until the child ends or is to be ended; with the seconds that it had been given last."""
    deadline, waiting, total = time.monotonic() + seconds, b"", 0
    while (left := deadline - time.monotonic()) > 0:
        ready = select.select([pipe], [], [], min(left, TICK))[0]
        if ready:
            data = os.read(pipe, LONGEST_LINE)
            if not data:
                return ("ended" if _ends_soon(child) else "garbled"), seconds
            total += len(data)
            *lines, waiting = (waiting + data).split(b"\n")
            try:
                for line in lines:
                    seconds = receive(_record(line))
                    deadline = time.monotonic() + seconds
            except GarbledError:
                return "garbled", seconds
            if len(waiting) > LONGEST_LINE or total > MOST_BYTES:
                return "garbled", seconds
        elif descendants.are_more_than(limits.processes, child):
            return "crowded", seconds
        elif _has_ended(child):  # and yet a lost child of its own holds the pipe
            return "ended", seconds
    return "timeout", seconds


def _record(line: bytes) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        raise GarbledError from None
    if not isinstance(record, dict):
        raise GarbledError
    return record


def _has_ended(child: int) -> bool:
    return os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _ends_soon(child: int) -> bool:
    deadline = time.monotonic() + GRACE
    while not _has_ended(child):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.002)
    return True
