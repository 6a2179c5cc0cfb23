"""No process of a file outlives it, and no copy of it speaks for it."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from judged import GOOD, SHORT, Judge, messages, statuses

from course.checking.judging import judge_files
from course.grading.limits import Limits

FORKS = """
import os, time
def linger(path, *, leave_group):
    if not os.fork():
        if leave_group:
            os.setsid()
        if leave_group and os.fork():
            os._exit(0)
        with open(path, "a") as file:
            file.write(f"{{os.getpid()}}\\n")
        time.sleep(600)
        os._exit(0)
linger({path!r}, leave_group=False)
linger({path!r}, leave_group=True)
while not os.path.exists({path!r}) or open({path!r}).read().count("\\n") < 2:
    time.sleep(0.01)
"""


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.fixture
def no_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without bubblewrap."""
    monkeypatch.setattr("course.grading.sandbox.bubblewrap.PROGRAM", "no-such-program")


@pytest.mark.usefixtures("no_sandbox")
def test_children_are_ended(judge: Judge, tmp_path: Path) -> None:
    """For children, in the file's process group and out of it, that go on when the file is judged."""
    notes = tmp_path / "children.txt"
    (result,) = judge(FORKS.format(path=str(notes)) + GOOD)
    assert result.points == 10
    children = [int(line) for line in notes.read_text().split()]
    assert len(children) == 2
    assert not any(map(_lives, children))


def test_copies_do_not_report(judge: Judge) -> None:
    """For a fork in a function: both processes return, and the copy would report each check once more."""
    forks = GOOD.replace("    new = []\n", "    import os\n    os.fork()\n    new = []\n")
    bad, good = judge(forks, GOOD, limits=Limits())
    assert messages(bad) == ""
    assert bad.points == good.points == 10


def test_many_children_are_stopped(judge: Judge) -> None:
    """For a loop around `fork` that takes the machine from the files beside it."""
    crowd = """
import os, time
for _ in range(80):
    if not os.fork():
        time.sleep(60)
time.sleep(60)
"""
    bad, good = judge(GOOD + crowd, GOOD)
    assert set(statuses(bad).values()) == {"error"}
    assert "more than 32 processes" in messages(bad)
    assert good.points == 10


def _frame(text: bytes) -> bytes:
    return len(text).to_bytes(4, "big") + text


def test_forged_reports(judge: Judge) -> None:
    """For a message that breaks whoever reads it, or that is believed where it cannot be true."""
    write = """
import contextlib, os
for pipe in range(3, 64):
    with contextlib.suppress(OSError):
        os.write(pipe, {line!r})
"""
    lines = [b"no json\n", b"\0\0\0\2[]", b"\0\0\0\3{x}", b"\xff\n", b"\0\0\xea\x60" + b"[" * 60_000]
    lines += [_frame(b'{"kinds": []}'), _frame(b'{"kinds": {}, "broken": 3}')]
    results = judge(*[GOOD + write.format(line=line) for line in lines], GOOD)
    for result in results[:-1]:
        assert set(statuses(result).values()) == {"error"}
        assert "The code disturbed the process that runs it while the file was imported" in messages(result)
    assert results[-1].points == 10


@pytest.mark.usefixtures("no_sandbox")
def test_server_is_killed(tmp_path: Path) -> None:
    """For a death of the process that forks the workers, which would take all files after it."""
    paths = []
    for number, source in enumerate(
        (f"import os\nos.kill(os.getppid(), {signal.SIGKILL})\n" + GOOD, GOOD, GOOD)
    ):
        paths.append(tmp_path / f"{number}.py")
        paths[-1].write_text(source)
    results = judge_files([str(path) for path in paths], "generation_loop", seed=5, workers=1, limits=SHORT)
    assert [result.judged for result in results] == [False, True, True]
    assert [result.points for result in results] == [0, 10, 10]
    assert results[0].max_points == 10
