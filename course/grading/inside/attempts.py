"""Takes note of what the sandbox refuses anyway, so that an instructor learns what was tried."""

import os
import sys
from typing import Any

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_OWN = ("/run/home/", "/tmp/", "/dev/null", "/dev/shm/")
_PRIVATE = ("gradebook", "submitted", "autograded", "/source/", "grading.jsonl", "/proc/")
MOST = 20


class Attempts:
    """Listens to Python's audit events while a student's code is at work.

    Student code can keep this from being sent, and gains nothing by it: this is a courtesy to instructors.
    """

    def __init__(self) -> None:
        self.noted: list[str] = []
        self.listening = False
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.listening or len(self.noted) >= MOST:
            return
        self.listening = False  # what is done here raises events too
        try:
            sentence = _sentence(event, arguments)
            if sentence and sentence not in self.noted:
                self.noted.append(sentence[:300])
        except Exception:  # an odd argument
            return
        finally:
            self.listening = True


def _sentence(event: str, arguments: tuple[Any, ...]) -> str:
    """What an event says of its author's plans; nothing, if it is an ordinary one."""
    if event in ("socket.connect", "socket.sendto", "socket.bind"):
        return f"used the network: {event}({arguments[1]!r})"
    if event == "socket.getaddrinfo":
        return f"used the network: looked up {arguments[0]!r}"
    if event == "os.kill":
        return f"sent signal {arguments[1]} to process {arguments[0]}"
    if event == "import":
        name = str(arguments[0])
        known = name in ("course.checks", "course.checks.candidate") or name.startswith("course.study")
        return f"imported {name}" if name.split(".")[0] in ("course", "nbgrader") and not known else ""
    if event == "open":
        return _opening(str(arguments[0]), arguments[2])
    return ""


def _opening(path: str, flags: int) -> str:
    if not path.startswith("/"):
        path = os.path.join(os.getcwd(), path)  # noqa: PTH118, PTH109 - pathlib raises events of its own
    own = path.startswith(_OWN) and os.path.isdir(os.path.dirname(path))  # noqa: PTH112, PTH120
    if flags & _WRITING and not own:
        return f"opened {path} to write to it"
    if any(word in path for word in _PRIVATE):
        return f"opened {path}"
    return ""
