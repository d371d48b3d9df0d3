"""Kills a command at a system call, so that a test can try each: whatever ends a program, what it
leaves has to be right."""

import os
import re
import subprocess

# The system calls by which files change.
FILE_CALLS = ("openat,write,pwrite64,ftruncate,rename,renameat,renameat2,unlink,unlinkat,link,"
              "chmod,fchmodat,fallocate")


def at_call(strace: str, number: int, calls: str = FILE_CALLS, *, alone: bool = False) -> list:
    """A command prefix that kills what follows when a process or thread of it makes so many of
    these calls; `alone`: those of the first process count, and its children are not watched."""
    return [strace, *([] if alone else ["-f"]), "-o", os.devnull, "-e", f"trace={calls}",
            "-e", f"inject={calls}:signal=KILL:when={number}"]


def writing_calls(strace: str, log: os.PathLike, *command) -> list[int]:
    """Runs a command, and tells which of the calls of a process or thread, counted from 1, may
    change a file in some of them."""
    subprocess.run([strace, "-f", "-o", log, "-e", f"trace={FILE_CALLS}", *command], check=True,
                   capture_output=True)
    with open(log) as lines:
        return _writing(lines)


def _writing(lines) -> list[int]:
    counts, found = {}, set()
    for line in lines:
        process, call = line.split(maxsplit=1)
        if re.match(r"\w+\(", call):
            counts[process] = counts.get(process, 0) + 1
            if "O_RDONLY" not in call:
                found.add(counts[process])
    return sorted(found)
