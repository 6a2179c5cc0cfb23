"""A process that has everything imported, and forks a worker for each notebook or file.

`warm.py CONTROL HOW`: the number of the file that orders come on, and where we are: "nested" in a sandbox in
which each worker gets namespaces of its own, "plain" in one for a single worker, "open" in no sandbox at all.
An order is a byte, perhaps with a socket, and a message:

    {"open": {...}} with a socket    fork a worker that talks to the trusted side on it
    {"interrupt": true}              stop the cell at work
    {"close": true}                  end the worker and all it started; the answer says why it had ended

It has one thread, so that it can be forked at any time, and one worker at a time, so that every process that
it sees and does not know belongs to that worker.
"""

import contextlib
import gc
import io
import os
import select
import signal
import socket
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from course.grading.inside import descendants, isolation, serving, syscalls
from course.grading.inside.attempts import Attempts
from course.grading.inside.frames import ClosedError, receive, send
from course.grading.inside.shell import Shell

TICK = 0.02  # seconds between two looks at a worker's processes: a fork bomb doubles in a few milliseconds
_MOST = 2**16
_PAGE = os.sysconf("SC_PAGE_SIZE")
_SIGNALS = {
    signal.SIGSEGV: "a crash inside Python or a library, as endless recursion can bring about",
    signal.SIGXCPU: "its processor time was used up",
}


@dataclass
class _Worker:
    """A worker at work.

    process : the student's code.
    parent : what we wait for; the same process where there are no namespaces.
    ended : why we ended it, if we did.
    """

    process: int
    parent: int
    memory: int
    processes: int
    ended: str = ""


class Warm:
    """Follows orders until the control socket is closed, which raises ClosedError.

    how : "nested", "plain" or "open"; see above.
    """

    def __init__(self, control: socket.socket, shell: Shell, how: str) -> None:
        self._control, self._shell = control, shell
        self._nested, self._open_house = how == "nested", how == "open"
        self._attempts = Attempts()
        self._worker: _Worker | None = None
        self._known = {os.getpid(), *_processes()}

    def follow_orders(self) -> None:
        """Wait for orders, and watch the worker meanwhile; whatever ends this ends the worker."""
        try:
            self._follow_orders()
        finally:
            self._close()

    def _follow_orders(self) -> None:
        while True:
            if select.select([self._control], [], [], TICK if self._worker else None)[0]:
                send(self._control, self._follow())
            elif self._worker:
                self._watch(self._worker)

    def _follow(self) -> dict[str, Any]:
        self._control.settimeout(None)
        byte, files, _, _ = socket.recv_fds(self._control, 1, 1)
        if not byte:
            raise ClosedError
        order = receive(self._control, _MOST)
        if "open" in order:
            return self._open(order["open"], files[0])
        if "interrupt" in order:
            if self._worker:
                _signal(self._worker.process, signal.SIGINT)
            return {}
        return {"ended": self._close()}

    def _open(self, limits: dict[str, Any], file: int) -> dict[str, Any]:
        """Fork a worker; says that there is one, or why not."""
        self._close()
        self._shell.recorder.most = limits["output"]
        reading, writing = os.pipe()
        gc.freeze()  # a worker's collector touches no page that it shares
        child = os.fork()
        if not child:
            self._be_the_worker(limits, file, writing)
        os.close(file)
        os.close(writing)
        with os.fdopen(reading) as pipe:
            told = pipe.read()
        if not told.isdigit():
            os.waitpid(child, 0)
            return {"refused": told or "the worker ended before it had begun"}
        self._worker = _Worker(int(told), child, limits["memory"], limits["processes"])
        return {"opened": True}

    def _be_the_worker(self, limits: dict[str, Any], file: int, told: int) -> None:
        """The whole life of a forked process."""
        try:
            control = self._control.detach()
            os.close(control)
            os.setsid()
            signal.signal(signal.SIGINT, signal.default_int_handler)
            confined = {name: limits[name] for name in ("memory", "seconds", "disk", "processes")}
            if self._nested:
                isolation.separate(limits["disk"])
                process = os.fork()
                if process:
                    os.close(file)
                    _tell(told, str(process))
                    os._exit(_exit_code(os.waitpid(process, 0)[1]))
                isolation.die_with_parent()
                os.setsid()
                isolation.confine(**confined)
                isolation.hide_processes()
                os.chdir(isolation.HOME)
                isolation.drop_privileges()
                os.close(told)
            else:
                if self._open_house:
                    isolation.die_with_parent()
                    os.environ["HOME"] = limits["home"]
                    os.chdir(limits["home"])
                    confined["processes"] = None  # it would count all that this user runs
                isolation.set_dumpable(True)
                isolation.confine(**confined)
                _tell(told, str(os.getpid()))
            syscalls.forbid()
            serving.begin(socket.socket(fileno=file), self._shell, self._attempts)
        except BaseException as error:
            with contextlib.suppress(OSError):
                _tell(told, f"{type(error).__name__}: {error}")
        finally:
            os._exit(0)

    def _watch(self, worker: _Worker) -> None:
        """End a worker that takes more than it may."""
        if self._open_house:
            own = list(descendants.of(os.getpid()))
        else:
            own = [process for process in _processes() if process not in self._known]
        if len(own) > worker.processes + 2:  # the worker and its parent are ours
            self._end(worker, f"it had more than {worker.processes} processes")
        # What is in memory at all is quickly known, if not to the page; what of it is private is not.
        elif (
            sum(map(_resident_memory, own)) > worker.memory / 2
            and sum(map(_private_memory, own)) > worker.memory
        ):
            self._end(worker, f"it used more than {worker.memory / 2**20:.0f} MB of memory")

    def _end(self, worker: _Worker, why: str) -> None:
        worker.ended = worker.ended or why
        _signal(worker.process, signal.SIGKILL)  # and with it all the processes of its namespace
        if not self._nested:
            with contextlib.suppress(OSError):
                os.killpg(worker.process, signal.SIGKILL)

    def _close(self) -> str:
        """End the worker, if there is one; why it had ended before."""
        if not self._worker:
            return ""
        worker, self._worker = self._worker, None
        ended = worker.ended
        self._end(worker, "closed")
        code = _exit_code(os.waitpid(worker.parent, 0)[1])
        if self._open_house:
            descendants.end_adopted()
        return ended or _own_ending(code)


def _exit_code(status: int) -> int:
    """An exit status; 128 and its number for a signal, as shells have it."""
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _own_ending(code: int) -> str:
    """How a worker ended by itself; nothing where our signal ended it."""
    number = code - 128
    if number == signal.SIGKILL:
        return ""
    if number in set(signal.Signals):
        hint = _SIGNALS.get(signal.Signals(number))
        return f"it ended its own process by {signal.Signals(number).name}" + (f" ({hint})" if hint else "")
    if code == os.EX_SOFTWARE:
        return "it ended its own process, because Python could not go on, for want of memory perhaps"
    return f"it ended its own process with exit status {code} (is there an `os._exit`?)"


def _tell(pipe: int, text: str) -> None:
    os.write(pipe, text.encode(errors="replace"))
    os.close(pipe)


def _signal(process: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, number)


def _processes() -> list[int]:
    """Every process that can be seen here; none where there is no /proc."""
    try:
        return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    except OSError:
        return []


def _resident_memory(process: int) -> int:
    """Bytes in memory, shared ones too, or nothing once it has ended."""
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * _PAGE
    except OSError:
        return 0


def _private_memory(process: int) -> int:
    """Bytes that no other process shares, or nothing once it has ended."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return 1024 * sum(int(line.split()[1]) for line in lines if line.startswith("Private_"))


def _import_what_notebooks_import(shell: Shell) -> None:
    """So that a worker has it from the start, with what a first picture, view and traceback look up."""
    import matplotlib.pyplot as plt

    import decoder_lib.plots
    import decoder_lib.widgets

    decoder_lib.widgets.chain_rule_view()
    figure, ax = plt.subplots()
    ax.set_title("0123456789 abcdefghijklmnopqrstuvwxyz")
    figure.savefig(io.BytesIO())
    plt.close(figure)
    try:
        raise LookupError
    except LookupError:
        shell.InteractiveTB.structured_traceback(*sys.exc_info())


def main() -> None:
    """Import, say that all is ready, and follow orders."""
    control = socket.socket(fileno=int(sys.argv[1]))
    shell = Shell.instance(0)
    _import_what_notebooks_import(shell)
    isolation.set_dumpable(False)  # a worker must not look into this process, should it ever see it
    with Path(os.devnull).open("wb") as nowhere:  # what goes wrong from here on is told on the socket
        os.dup2(nowhere.fileno(), 2)  # and a file would be shared by all workers
    send(control, {"ready": True})
    if sys.argv[2] == "open":
        descendants.adopt()
    with contextlib.suppress(ClosedError):
        Warm(control, shell, sys.argv[2]).follow_orders()


if __name__ == "__main__":
    main()
