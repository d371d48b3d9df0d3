"""Kernels, containers and disks that refuse something: what stands in for each in a process."""

import ctypes
import platform
import resource
import struct

EPERM, EIO = 1, 5
# Numbers of system calls.
PTRACE, PWRITE64, FALLOCATE, FTRUNCATE, OPENAT, MADVISE, RT_SIGPROCMASK = {
    "x86_64": (101, 18, 285, 77, 257, 28, 14),
    "aarch64": (117, 68, 47, 46, 56, 233, 135)}[platform.machine()]


def filter_system_calls(number: int, errno: int, argument: int | None = None, value: int = 0,
                        below: bool = False):
    """From now on, this process and its descendants get `errno` from this system call, or only
    where one of its arguments has this value, or is below it."""
    load, equal, at_least, answer = 0x20, 0x15, 0x35, 0x06  # of BPF
    refused, allowed = 0x00050000 | errno, 0x7fff0000
    # Code, how many steps to jump over if so, if not, and a number.
    steps = [(load, 0, 0, 0), (equal, 0, 1 if argument is None else 3, number)]
    if argument is not None:
        compare = (at_least, 1, 0, value) if below else (equal, 0, 1, value)
        steps += [(load, 0, 0, 16 + 8 * argument), compare]
    code = b"".join(struct.pack("<HBBI", *step) for step in (
        *steps, (answer, 0, 0, refused), (answer, 0, 0, allowed)))
    text = ctypes.create_string_buffer(code)
    program = ctypes.create_string_buffer(
        struct.pack("<HxxxxxxQ", len(code) // 8, ctypes.addressof(text)))
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program) == 0


def limit_file_size(size):
    """What to do in a process whose files may only have this size."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
