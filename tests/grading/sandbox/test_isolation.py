"""What a student's code can reach from the sandbox, and what is left of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from small_limits import LIMITS

import course
from course.files import ROOT
from course.grading.errors import SandboxUnavailableError
from course.grading.sandbox import Sandbox, Worker, WorkerEndedError


def said(worker: Worker, source: str, seconds: float = 20) -> str:
    """What a cell prints, and the error it ends with."""
    outputs = worker.run_cell(source, seconds).outputs
    return "".join(output.get("text", "") + output.get("evalue", "") for output in outputs)


@pytest.mark.parametrize(
    "path",
    [
        str(ROOT / "course" / "checks" / "check.py"),
        str(ROOT / "source"),
        str(ROOT / "nbgrader_config.py"),
        str(Path(course.__file__).parent / "checks" / "registry.py"),
        "/run/course/course/checks/check.py",
        "/run/course/course/grading/job.py",
        "/etc/passwd",
        "/etc/shadow",
        str(Path.home()) + "/.bashrc",
        "/var",
        "/sys",
        "/proc/1/environ" if os.getuid() else "/proc/2/environ",
    ],
)
def test_what_is_not_there(worker: Worker, path: str) -> None:
    """Bug: hidden checks, other work or the instructor's files can be read."""
    assert said(worker, f"import os; print(os.path.exists({path!r}))") == "False\n"


@pytest.mark.parametrize(
    "path", ["/x", "/usr/x", "/run/course/x", "/etc/x", "/dev/x", "/run/course/decoder_lib/x"]
)
def test_nothing_can_be_written_but_its_own(worker: Worker, path: str) -> None:
    """Bug: a notebook changes what the next one imports."""
    assert "Read-only file system" in said(worker, f"open({path!r}, 'w')")
    assert said(worker, "open('mine', 'w').write('12')\nprint(open('/run/home/mine').read())") == "12\n"


def test_no_network(worker: Worker) -> None:
    """Bug: a solution is fetched, or the tests are sent away."""
    assert "unreachable" in said(
        worker, "import socket\nsocket.create_connection(('192.0.2.1', 80), timeout=5)"
    )
    assert any("192.0.2.1" in attempt for attempt in worker.attempts)
    interfaces = "import socket\nprint([name for _, name in socket.if_nameindex()])"
    assert said(worker, interfaces) == "['lo']\n"


def test_an_ordinary_user_with_an_environment_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bug: code runs as root, or reads secrets from our environment."""
    monkeypatch.setenv("COURSE_CHECK_SEED", "7")
    with Sandbox(LIMITS) as box, box.open() as worker:
        assert said(worker, "import os; print(os.getuid(), os.getgid())") == "1000 1000\n"
        assert said(worker, "import getpass; print(getpass.getuser())") == "student\n"
        assert said(worker, "print('COURSE_CHECK_SEED' in os.environ)") == "False\n"


def test_privileges_of_the_namespaces_are_given_up(worker: Worker) -> None:
    """Bug: the new namespaces' rights unmount what hides the folders of other workers."""
    source = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
mount = libc.mount(b"x", b"/run/home", b"tmpfs", 0, None)
for what in (mount, libc.umount2(b"/tmp", 2), libc.umount2(b"/proc", 2)):
    print(what, os.strerror(ctypes.get_errno()))
"""
    assert said(worker, source) == "-1 Operation not permitted\n" * 3
    # A namespace within gives rights again, but not over what was mounted outside it.
    again = "libc.unshare(0x10000000 | 0x20000); print(libc.umount2(b'/tmp', 2), libc.umount2(b'/proc', 2))"
    assert said(worker, again) == "-1 -1\n"


def test_other_processes_cannot_be_seen_or_signalled(worker: Worker) -> None:
    """Bug: the process that forks the workers is read, changed or killed."""
    source = """
import os
print(os.getpid(), os.getppid())
for process in range(2, 400):
    try:
        os.kill(process, 0)
        print("found", process)
    except ProcessLookupError:
        pass
"""
    assert said(worker, source) == "1 0\n"


def test_nothing_survives(sandbox: Sandbox) -> None:
    """Bug: files, processes or modules that one notebook leaves behind meet the next one."""
    source = """
import os, sys, subprocess, numpy, decoder_lib, time
for folder in ("/tmp", "/run/home", "/dev/shm"):
    open(folder + "/left", "w").write("x")
decoder_lib.generate = numpy.argmax = None
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(600)
        os._exit(0)
print("done")
"""
    with sandbox.open() as first:
        assert said(first, source) == "done\n"
    with sandbox.open() as second:
        looked = """
import os, numpy, decoder_lib
print([os.listdir(folder) for folder in ("/tmp", "/run/home", "/dev/shm")])
print(callable(decoder_lib.generate), callable(numpy.argmax))
"""
        assert said(second, looked) == "[[], [], []]\nTrue True\n"
    children = Path(f"/proc/{sandbox._process.pid}/task/{sandbox._process.pid}/children")  # type: ignore[union-attr]
    if children.exists():
        (inner,) = children.read_text().split()  # bubblewrap's own child, the first process inside
        (warm,) = Path(f"/proc/{inner}/task/{inner}/children").read_text().split()
        assert Path(f"/proc/{warm}/task/{warm}/children").read_text() == ""


def ended(worker: Worker, source: str, seconds: float = 20) -> str:
    """Why a cell ended its worker."""
    with pytest.raises(WorkerEndedError) as caught:
        worker.run_cell(source, seconds)
    return str(caught.value)


def test_memory_is_bounded_for_all_processes_together(worker: Worker) -> None:
    """Bug: one large array, or many children with a little each, take the machine down."""
    assert "Unable to allocate" in said(worker, "import numpy as np\nnp.ones(10**9)")
    source = """
import os, time
for _ in range(6):
    if os.fork() == 0:
        kept = []
        while True:
            kept.append(bytearray(4 * 10**6))
            time.sleep(0.01)
time.sleep(60)
"""
    assert ended(worker, source) == "it used more than 512 MB of memory"


def test_processes_are_bounded(worker: Worker) -> None:
    """Bug: a fork bomb."""
    source = """
import os, time
while True:
    try:
        os.fork()
    except OSError:
        time.sleep(0.1)
"""
    assert ended(worker, source) in ("it had more than 16 processes", "it used more than 512 MB of memory")


def test_disk_is_bounded(worker: Worker) -> None:
    """Bug: a file that fills the machine's disk or memory."""
    for path in ("/tmp/big", "/run/home/big", "/dev/shm/big"):
        shown = said(worker, f"with open({path!r}, 'wb') as file:\n    while True: file.write(bytes(10**6))")
        assert "No space left" in shown or "File too large" in shown


def test_output_is_bounded(worker: Worker) -> None:
    """Bug: endless printing fills the memory of the trusted side, or the feedback."""
    run = worker.run_cell("for i in range(10**6): print('x' * 100)", 30)
    assert sum(len(output["text"]) for output in run.outputs) < 2 * LIMITS.output
    assert "was left out" in run.outputs[-1]["text"]
    assert said(worker, "print('still here')") == "still here\n"
    assert said(worker, "import os; os.write(1, b'x' * 1000); os.system('yes | head -c 100000')") == ""


def test_a_cell_that_does_not_end_is_interrupted(worker: Worker) -> None:
    """Bug: an endless loop takes the cells after it, or the whole notebook, with it."""
    run = worker.run_cell("kept = 1\nwhile True: pass", 0.3)
    assert (run.interrupted, run.outputs[-1]["ename"]) == (True, "KeyboardInterrupt")
    assert said(worker, "print(kept)") == "1\n"


def test_a_cell_that_will_not_be_interrupted_is_ended(worker: Worker) -> None:
    """Bug: `except KeyboardInterrupt` in an endless loop holds the grader up for ever."""
    source = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass"
    assert ended(worker, source, 0.3) == "it took too long"


@pytest.mark.parametrize(
    "source", ["import os; os._exit(0)", "import os; os.kill(0, 9)", "import os; os.abort()"]
)
def test_a_worker_that_ends_itself_is_noticed(worker: Worker, source: str) -> None:
    """Bug: a dead process is waited for, or counts as an answer."""
    if "kill" in source:  # the first process of a namespace is not killed from inside
        assert said(worker, source) == ""
    else:
        assert ended(worker, source).startswith("it ended its own process")


def test_without_bubblewrap_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Bug: a traceback, or worse, grading without a sandbox that nobody asked for."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SandboxUnavailableError, match=r"apt install bubblewrap.*--no-sandbox"):
        Sandbox(LIMITS)
    with Sandbox(LIMITS, bubblewrap=False) as open_house, open_house.open() as worker:
        assert said(worker, "print(6 * 7)") == "42\n"


def test_where_there_are_no_namespaces_each_worker_has_a_sandbox_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Bug: on a system that grants no namespaces inside bubblewrap, one notebook meets what another left."""
    with Sandbox(LIMITS) as box:
        monkeypatch.setattr(box, "_nested", False)
        with box.open() as first:
            assert said(first, "open('/tmp/left', 'w').write('x'); print('written')") == "written\n"
        with box.open() as second:
            assert said(second, "import os; print('left' in os.listdir('/tmp'))") == "False\n"
