"""Finds out where the kernel and the loader will put a program, before it runs.

The moments between the phases of a start are calls of known functions. Hardware breakpoints watch
for them, because nothing may write into the program's pages (a uprobe does, and so changes which
pages fault). A breakpoint holds an address of the process, so addresses must not be randomized.
This module executes the same command, stops it before its first instruction, reads the addresses,
and ends it. Nothing of the program has run then.

milestone  a moment of a start: the loader tells debuggers something, main or another function of
           the program is entered
"""

import ctypes
import os
import signal
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from frontload.elf import dependencies, functions
from frontload.elf import file as elf
from frontload.elf.loading import read_start

_PTRACE_TRACEME = 0
_ADDR_NO_RANDOMIZE = 0x0040000
_AT_PHDR_BASE, _AT_ENTRY = 7, 9
STARTUP_DONE = b"frontload_startup_done"

LOADER_TELLS, MAIN, ENTRY, UNTIL = "loader tells", "main", "entry", "until"
_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
_libc.personality.argtypes = [ctypes.c_ulong]


@dataclass(frozen=True)
class Milestone:
    kind: str
    path: str
    offset: int  # in the file
    address: int  # in the process


@dataclass(frozen=True)
class Loading:
    """How a command will be loaded. `tells_twice`: the loader notifies debuggers when it begins and
    when it has ended (glibc), not only when it has ended (musl)."""

    program: str
    interpreter: str | None
    milestones: tuple[Milestone, ...]
    tells_twice: bool = True
    until: str | None = None  # the symbol


def find(command: Sequence[str], until: str | None) -> Loading:
    """The milestones of a command; fails if it has no function `until`."""
    program, entry, base = _place(command)
    read = elf.read(program)
    start = read_start(program)
    bias = entry - start.entry
    milestones = []

    def add(kind: str, file: elf.Elf, address: int, bias: int) -> None:
        for segment in file.segments:
            if segment.address <= address < segment.address + segment.file_bytes:
                milestones.append(Milestone(kind, file.path, segment.offset + address
                                            - segment.address, address + bias))

    interpreter, tells_twice = None, True
    if base:
        interpreter = os.path.realpath(str(dependencies.interpreter(program)))
        loader = elf.read(interpreter)
        tells = functions.address_of(loader, b"_dl_debug_state")
        tells_twice = any(symbols.names.find([b"_rtld_global"])[1] for symbols in
                          (loader.symbols, loader.dynamic_symbols) if symbols is not None)
        if tells is not None:
            add(LOADER_TELLS, loader, tells, base)
    main = functions.address_of(read, b"main")
    if main is not None:
        add(MAIN, read, main, bias)
    else:
        add(ENTRY, read, start.entry, bias)
    address = (functions.address_of(read, STARTUP_DONE) if until is None else
               functions.find(read, program, until))
    if address is not None:
        add(UNTIL, read, address, bias)
    return Loading(program, interpreter, tuple(milestones), tells_twice,
                   None if address is None else until or os.fsdecode(STARTUP_DONE))


def _place(command: Sequence[str]) -> tuple[str, int, int]:
    """The file that the command runs, its entry's address, and its loader's (0: no loader)."""
    child = os.fork()
    if child == 0:
        try:
            if _libc.personality(_ADDR_NO_RANDOMIZE) == -1 \
                    or _libc.ptrace(_PTRACE_TRACEME, 0, None, None):
                os._exit(ctypes.get_errno())
            os.execvp(command[0], list(command))
        except OSError as problem:
            os._exit(problem.errno or 1)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    if not os.WIFSTOPPED(status):
        error = os.waitstatus_to_exitcode(status)
        raise OSError(error, f"cannot be stopped where it is loaded: {os.strerror(error)}",
                      command[0])
    try:
        process = Path(f"/proc/{child}")
        program = os.readlink(process / "exe")
        words = (process / "auxv").read_bytes()
        pairs = dict(struct.iter_unpack("@LL", words))
        return program, pairs.get(_AT_ENTRY, 0), pairs.get(_AT_PHDR_BASE, 0)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
