"""Where the kernel and the loader will put a program, known before it runs.

The moments between the phases of a start are calls of known functions. The processor's own
breakpoints watch for them, because nothing may write into the program's pages (a uprobe does, and
so changes which pages fault). A breakpoint holds an address of the process, so addresses must not
be randomised. This module finds them out: it executes the same command, stops it before its first
instruction, looks where things are, and ends it. Nothing of the program has run then.

milestone  a moment of a start: the loader tells debuggers something, main or another function of
           the program is entered
"""

import ctypes
import os
import re
import signal
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from frontload.base.demangle import demangled
from frontload.base.errors import Failure
from frontload.elf import constants
from frontload.elf import file as elf
from frontload.elf.loading import read_start
from frontload.faults import segments as elf_segments

_PTRACE_TRACEME = 0
_ADDR_NO_RANDOMIZE = 0x0040000
_AT_PHDR_BASE, _AT_ENTRY = 7, 9
STARTUP_DONE = b"frontload_startup_done"

LOADER_TELLS, MAIN, ENTRY, UNTIL = "loader tells", "main", "entry", "until"
# What follows a function's own name where people read it: parameters, or the hash of Rust.
_AFTER_NAME = re.compile(r"(?<!operator)\((?!anonymous namespace\)).*|::h[0-9a-f]{16}$", re.DOTALL)
_MOST_SHOWN = 5
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
    """How a command will be loaded. `tells_twice`: the loader tells debuggers that it begins and
    that it has ended (glibc), not only the latter (musl)."""

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
    segments = elf_segments.load(program)
    milestones = []

    def add(kind: str, path: str, address: int, bias: int, segments) -> None:
        offset = elf_segments.offset_of(address, segments)
        if offset is not None:
            milestones.append(Milestone(kind, path, offset, address + bias))

    interpreter, tells_twice = None, True
    if base:
        interpreter = os.path.realpath(elf_segments.interpreter(program))
        loader = elf.read(interpreter)
        tells = _function(loader, b"_dl_debug_state")
        tells_twice = _has(loader, b"_rtld_global")
        if tells is not None:
            add(LOADER_TELLS, interpreter, tells, base, elf_segments.load(interpreter))
    main = _function(read, b"main")
    if main is not None:
        add(MAIN, program, main, bias, segments)
    else:
        add(ENTRY, program, start.entry, bias, segments)
    address = _until(read, program, until)
    if address is not None:
        add(UNTIL, program, address, bias, segments)
    return Loading(program, interpreter, tuple(milestones), tells_twice,
                   None if address is None else until or os.fsdecode(STARTUP_DONE))


def _until(file: elf.Elf, program: str, until: str | None) -> int | None:
    """The address of the function with which a start ends."""
    if until is None:
        return _function(file, STARTUP_DONE)
    address = _function(file, os.fsencode(until))
    if address is not None:
        return address
    found = _readable(file, until)
    if not found:
        raise Failure(f"--until: {until}: {program} has no function of this name",
                      note="give the name as it is in the symbol table (nm lists them), or as "
                      "people read it (nm --demangle)")
    if len(found) > 1:
        shown = sorted(found.values())
        more = f" and {len(shown) - _MOST_SHOWN} more" if len(shown) > _MOST_SHOWN else ""
        raise Failure(f"--until: {until}: {len(shown)} functions of {program} have this name",
                      note=f"give one of {', '.join(shown[:_MOST_SHOWN])}{more}")
    return next(iter(found))


def _readable(file: elf.Elf, name: str) -> dict[int, str]:
    """The symbols, by address, of functions of C++ or Rust that people call by this name: with or
    without its parameters, and the namespaces and classes around it."""
    last = re.split(r"[<(]", name.rpartition("::")[2].removeprefix("~"))[0].strip()
    symbols = file.symbols or file.dynamic_symbols
    if not last or symbols is None:
        return {}
    places = {symbol: index for index, symbol in enumerate(symbols.names.all())
              if symbol.startswith((b"_Z", b"_R")) and os.fsencode(last) in symbol
              and symbols.type[index] == constants.STT_FUNC and symbols.section[index] > 0}
    found: dict[int, str] = {}
    for symbol, shown in demangled(places).items():
        if any(called == name or called.endswith((f"::{name}", f" {name}"))
               for called in (shown, _AFTER_NAME.sub("", shown))):
            found.setdefault(int(symbols.value[places[symbol]]), os.fsdecode(symbol))
    return found


def _place(command: Sequence[str]) -> tuple[str, int, int]:
    """The file that the command runs, its entry's address, and its loader's (0: it has none)."""
    child = os.fork()
    if child == 0:
        try:
            if _libc.personality(_ADDR_NO_RANDOMIZE) == -1 \
                    or _libc.ptrace(_PTRACE_TRACEME, 0, None, None):
                os._exit(ctypes.get_errno())
            os.execvp(command[0], command)
        except OSError as problem:
            os._exit(problem.errno)
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


def _function(file: elf.Elf, name: bytes) -> int | None:
    for symbols in (file.symbols, file.dynamic_symbols):
        if symbols is None:
            continue
        for index, found in enumerate(symbols.names.all()):
            if found == name and symbols.type[index] in (constants.STT_FUNC, constants.STT_NOTYPE) \
                    and symbols.section[index] > 0:
                return int(symbols.value[index])
    return None


def _has(file: elf.Elf, name: bytes) -> bool:
    return any(name in symbols.names.all() for symbols in (file.symbols, file.dynamic_symbols)
               if symbols is not None)
