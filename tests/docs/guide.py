"""A guide's fenced blocks, and a terminal in which they run one after the other, as a reader runs them."""

import fcntl
import os
import pty
import re
import shlex
import signal
import struct
import subprocess
import termios
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

COLUMNS = 100
_MARKER = re.compile(r"<!-- runs: (?P<name>[a-z-]+)(?P<stays>, stays)? -->")
_FENCE = re.compile(r"```(?P<language>\w*)")
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()][A-Z0-9]|\r")
_STARTING = 60.0  # seconds that a block which stays has to say what is expected of it


@dataclass(frozen=True)
class Block:
    """A fenced block, with the marker above it and the output shown below it.

    name : of the marker; empty without one.
    stays : whether it is a program that goes on running while later blocks run.
    output : the lines of the `text` block that follows.
    """

    line: int
    language: str
    text: str
    name: str = ""
    stays: bool = False
    output: tuple[str, ...] = ()


def blocks_of(path: Path) -> list[Block]:
    """The fenced blocks of a Markdown file, in order; a `text` block belongs to the one above it."""
    found: list[Block] = []
    lines = path.read_text(encoding="utf-8").splitlines()
    index, marker = 0, None
    while index < len(lines):
        if match := _MARKER.fullmatch(lines[index].strip()):
            marker = match
        elif match := _FENCE.match(lines[index]):
            end = lines.index("```", index + 1)
            body = lines[index + 1 : end]
            if match["language"] == "text":
                last = found.pop()
                found.append(Block(**{**vars(last), "output": tuple(body)}))
            else:
                name = marker["name"] if marker else ""
                stays = bool(marker and marker["stays"])
                found.append(Block(index + 1, match["language"], "\n".join(body) + "\n", name, stays))
            index, marker = end, None
        elif lines[index].strip():
            marker = None
        index += 1
    return found


def programs(script: str) -> set[str]:
    """The programs that a script of plain commands starts, without `sudo`."""
    found = set()
    for line in script.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words[:2] == ["sudo", "-u"]:
            words = words[3:]
        elif words[:1] == ["sudo"]:
            words = words[1:]
        if words:
            found.add(words[0])
    return found


class Terminal:
    """Runs scripts in a terminal of 100 columns, and takes down what stands there."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder, self.environment = folder, environment
        self._staying: list[subprocess.Popen[bytes]] = []

    def run(self, script: str) -> tuple[int, str]:
        """Run a script to its end, which comes at the first command that fails."""
        process, said, reader = self._start(script)
        code = process.wait()
        reader.join(timeout=10)  # of what it leaves running, nobody waits for the words
        return code, _plain(said)

    def stay(self, script: str, until: str) -> str:
        """Start a script that goes on running, and wait until it has said something."""
        process, said, _ = self._start(script)
        self._staying.append(process)
        deadline = time.monotonic() + _STARTING
        while until not in _plain(said):
            assert process.poll() is None, f"it ended, and said:\n{_plain(said)}"
            assert time.monotonic() < deadline, f"it did not say {until!r} but:\n{_plain(said)}"
            time.sleep(0.05)
        return _plain(said)

    def close(self) -> None:
        """End what stayed, each with all that it started."""
        for process in reversed(self._staying):
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        self._staying.clear()

    def _start(self, script: str) -> tuple[subprocess.Popen[bytes], list[bytes], Thread]:
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
        process = subprocess.Popen(
            ["bash", "-e", "-u", "-o", "pipefail", "-c", script],
            cwd=self.folder,
            env=self.environment | {"COLUMNS": str(COLUMNS)},  # other tests may leave one of their own
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        said: list[bytes] = []
        reader = Thread(target=_read, args=(ours, said), daemon=True)
        reader.start()
        return process, said, reader


def _read(terminal: int, said: list[bytes]) -> None:
    with suppress(OSError):  # a terminal that everybody has left answers with an error
        while data := os.read(terminal, 65536):
            said.append(data)
    os.close(terminal)


def _plain(said: list[bytes]) -> str:
    return _CONTROL.sub("", b"".join(said).decode(errors="replace"))


def squeezed(line: str) -> str:
    """A line without the white space that only lays it out."""
    return " ".join(line.split())


def first_line_not_said(shown: tuple[str, ...], said: str) -> str:
    """The first line shown that does not follow in what was said; `...` stands for any number of lines."""
    rest = [squeezed(line) for line in said.splitlines()]
    for line in shown:
        wanted = squeezed(line)
        if wanted in ("", "..."):
            continue
        while rest and rest[0] != wanted:
            rest.pop(0)
        if not rest:
            return line
        rest.pop(0)
    return ""
