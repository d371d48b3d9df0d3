"""Kernels and containers that refuse something, by a seccomp filter in the place of each."""

import ctypes
import platform
import struct

EPERM, EIO = 1, 5
# Numbers of system calls.
PTRACE, PWRITE64 = {"x86_64": (101, 18), "aarch64": (117, 68)}[platform.machine()]


def filter_system_calls(number: int, errno: int, argument: int | None = None, value: int = 0):
    """From now on, this process and its descendants get `errno` from this system call, or only
    where one of its arguments has this value."""
    load, equal, answer = 0x20, 0x15, 0x06  # of BPF: a word at an offset; a jump; the end
    refused, allowed = 0x00050000 | errno, 0x7fff0000
    steps = [(equal, 0, 0, number)]
    if argument is not None:
        steps += [(load, 0, 0, 16 + 8 * argument), (equal, 0, 0, value)]
    # Each comparison that fails jumps over the rest and the refusal.
    rest = len(steps)
    steps = [(code, 0, rest - at if code == equal else 0, k)
             for at, (code, _, _, k) in enumerate(steps)]
    code = b"".join(struct.pack("<HBBI", *step) for step in (
        (load, 0, 0, 0), *steps, (answer, 0, 0, refused), (answer, 0, 0, allowed)))
    text = ctypes.create_string_buffer(code)
    program = ctypes.create_string_buffer(
        struct.pack("<HxxxxxxQ", len(code) // 8, ctypes.addressof(text)))
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program) == 0
