"""Puts a worker into namespaces of its own inside the sandbox, and holds it to its limits.

bubblewrap has shut the network, the course and the user's files out already. What is done here keeps one
notebook from the next, in a few milliseconds, where a bubblewrap of its own would import everything anew: a
worker sees no other process, has empty folders, and whatever it started ends with it. unshare(2), mount(2)
and capset(2), as bubblewrap does it.
"""

import contextlib
import ctypes
import os
import resource
import signal
import sys
from pathlib import Path

HOME = "/run/home"
_NEW = 0x00020000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000  # CLONE_NEW: NS, IPC, USER, PID, NET
_PRIVATE = 0x4000 | 0x40000  # MS_REC | MS_PRIVATE
_TMPFS_FLAGS = 0x2 | 0x4  # MS_NOSUID | MS_NODEV
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 1, 4, 24, 38
_CAPABILITY_VERSION_3 = 0x20080522


class NoNamespacesError(Exception):
    """The kernel grants no namespaces inside the sandbox."""


def set_dumpable(yes: bool) -> None:
    """Whether other processes of this user may look into this one."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, int(yes), 0, 0, 0)


def separate(disk: int) -> None:
    """Give the children of this process namespaces and empty folders of their own.

    disk : bytes that fit into each folder that can be written to.

    Raises NoNamespacesError where that cannot be done; this process is then of no use.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    user, group = os.getuid(), os.getgid()
    set_dumpable(True)  # or the files below would not be ours
    _succeed(libc.unshare(_NEW))
    try:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    except OSError as error:
        raise NoNamespacesError from error
    _succeed(libc.mount(None, b"/", None, _PRIVATE, None))
    for folder in ("/tmp", HOME, "/dev/shm"):
        if Path(folder).is_dir():
            options = f"size={disk},mode=0755,uid={user},gid={group}".encode()
            _succeed(libc.mount(b"tmpfs", folder.encode(), b"tmpfs", _TMPFS_FLAGS, options))


def die_with_parent() -> None:
    """End this process when its parent ends: the first of a namespace, and so with it all the others."""
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def hide_processes() -> None:
    """Show this process, the first of its namespace, the processes of that namespace only, or none at all."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"proc", b"/proc", b"proc", _TMPFS_FLAGS, None):
        # Where the kernel does not let us: better no /proc than one with the process that forks workers.
        _succeed(libc.mount(b"tmpfs", b"/proc", b"tmpfs", _TMPFS_FLAGS, b"size=4k,mode=0555"))


def drop_privileges() -> None:
    """Give up what the new namespaces grant: unmounting what hides the old folders, say."""
    libc = ctypes.CDLL(None, use_errno=True)
    for capability in range(64):
        libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    _succeed(libc.capset(header, (ctypes.c_uint32 * 6)()))
    _succeed(libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))


def confine(memory: int, seconds: float, disk: int, processes: int | None) -> None:
    """Hold this process, and what it starts, to the limits that the system can watch over.

    processes : None where no limit can be set on them alone.
    """
    limits = {
        "RLIMIT_AS": _own_size() + memory,
        "RLIMIT_CPU": int(seconds) + 5,
        "RLIMIT_FSIZE": disk,
        "RLIMIT_NOFILE": 256,
        "RLIMIT_CORE": 0,
    }
    if processes is not None:  # where the user behind the sandbox is root it is not in force
        limits["RLIMIT_NPROC"] = processes
    for name, most in limits.items():
        if hasattr(resource, name):
            with contextlib.suppress(ValueError, OSError):  # a stricter limit is in force
                resource.setrlimit(getattr(resource, name), (most, most))


def _succeed(result: int) -> None:
    if result:
        raise NoNamespacesError(os.strerror(ctypes.get_errno()))


def _own_size() -> int:
    """Bytes of address space: libraries map far more than they use."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 2**32  # no /proc: a generous guess
