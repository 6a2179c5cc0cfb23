"""Takes from a worker the calls to the kernel that no notebook needs and that go around its limits.

Memory that no process maps (memfd, System V), new namespaces with rights of their own, keys that outlive a
process, other processes' memory. A filter of the kernel's own (seccomp with BPF, see
Documentation/userspace-api/seccomp_filter.rst in Linux): numbers differ by machine, and on one that is not
known here there is no filter. Installed by prctl(2) because libseccomp need not be there.
"""

import ctypes
import errno
import platform
import struct

_PR_SET_SECCOMP, _MODE_FILTER = 22, 2
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06  # BPF: load, three jumps, return
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_NUMBER, _MACHINE, _FIRST_ARGUMENT = 0, 4, 16  # where they stand in struct seccomp_data
_NEW_USER = 0x10000000  # CLONE_NEWUSER
_OTHER_CONVENTION = 0x40000000  # x86-64's second table of numbers
_CLONE3 = 435

# memfd_create, shmget, unshare, setns, mount, umount2, add_key, request_key, keyctl, bpf, userfaultfd,
# perf_event_open, ptrace, process_vm_readv, process_vm_writev; then those with one number everywhere:
# io_uring_setup, open_tree, move_mount, fsopen, fsmount, memfd_secret.
_X86 = (319, 29, 272, 308, 165, 166, 248, 249, 250, 321, 323, 298, 101, 310, 311)
_ARM = (279, 194, 97, 268, 40, 39, 217, 218, 219, 280, 282, 241, 117, 270, 271)
_EVERYWHERE = (425, 428, 429, 430, 432, 447)
# By machine: its number in the audit headers, the calls, and clone's number.
_TABLES = {
    "x86_64": (0xC000003E, _X86, 56),
    "aarch64": (0xC00000B7, _ARM, 220),
}


def forbid() -> None:
    """From here on, in this process and all that it starts, those calls fail with EPERM."""
    table = _TABLES.get(platform.machine())
    if table is None:
        return
    machine, calls, clone = table
    refuse = (_RETURN, 0, 0, _ERRNO | errno.EPERM)
    program = [
        (_LOAD, 0, 0, _MACHINE),
        (_EQUAL, 1, 0, machine),
        refuse,
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, _OTHER_CONVENTION),
        refuse,
    ]
    for number in (*calls, *_EVERYWHERE):
        program += [(_EQUAL, 0, 1, number), refuse]
    # The C library takes clone when clone3, whose flags a filter cannot read, is not there.
    program += [(_EQUAL, 0, 1, _CLONE3), (_RETURN, 0, 0, _ERRNO | errno.ENOSYS)]
    program += [(_EQUAL, 0, 3, clone), (_LOAD, 0, 0, _FIRST_ARGUMENT), (_ANY_BIT, 0, 1, _NEW_USER), refuse]
    program.append((_RETURN, 0, 0, _ALLOW))
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in program))
    filter_ = struct.pack("HP", len(program), ctypes.addressof(code))
    ctypes.CDLL(None).prctl(_PR_SET_SECCOMP, _MODE_FILTER, filter_, 0, 0)
