"""Calls to the kernel that go around the limits, or out of the sandbox, are refused."""

from __future__ import annotations

import platform

import pytest

from course.grading.sandbox import Worker

pytestmark = pytest.mark.skipif(platform.machine() not in ("x86_64", "aarch64"), reason="no table of calls")

REFUSED = {
    "memory by descriptor": "os.memfd_create('x')",
    "shared memory of System V": "succeed(libc.shmget(0, 4096, 0o1600))",
    "a new user": "succeed(libc.unshare(0x10000000))",
    "new mounts": "succeed(libc.unshare(0x00020000))",
    "a mount": "succeed(libc.mount(b'x', b'/tmp', b'tmpfs', 0, None))",
    "a key that outlives the process": "succeed(libc.syscall(add_key, b'user', b'k', b'v', 1, -4))",
    "another process's memory": "succeed(libc.ptrace(16, 1, None, None))",
    "a clone in a new user namespace": "succeed(libc.syscall(clone, 0x10000011, None, None, None, 0))",
    "io_uring": "succeed(libc.syscall(425, 8, None))",
}


@pytest.mark.parametrize("call", REFUSED.values(), ids=REFUSED.keys())
def test_it_is_refused(worker: Worker, call: str) -> None:
    """Bug: memory that no limit counts, or rights that a new namespace brings."""
    source = f"""
import ctypes, os, platform
add_key, clone = {{"x86_64": (248, 56)}}.get(platform.machine(), (217, 220))
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
def succeed(result):
    if result == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
{call}
"""
    (output,) = worker.run_cell(source, 20).outputs
    assert output["ename"] == "PermissionError"


def test_ordinary_work_goes_on(worker: Worker) -> None:
    """Bug: threads, subprocesses or forks of an honest solution fail because of the filter."""
    source = """
import subprocess, sys, threading, multiprocessing
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(2) as threads:
    print(list(threads.map(abs, [-1, -2])))
print(subprocess.run([sys.executable, "-c", "print(3)"], capture_output=True, text=True).stdout)
process = multiprocessing.get_context("fork").Process(target=print)
process.start(); process.join(); print(process.exitcode)
"""
    (output,) = worker.run_cell(source, 30).outputs
    assert output["text"] == "[1, 2]\n3\n\n0\n"
