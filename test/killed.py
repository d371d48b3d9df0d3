"""Kills a command at a system call, so that a test can try each: whatever ends a program, what it
leaves has to be right. A call is known by its name, and by how many of this name its process or
thread has made by then: that is what strace counts."""

import os
import re
import subprocess
from pathlib import Path

# By which files change.
FILE_CALLS = ("openat", "write", "pwrite64", "ftruncate", "fallocate", "rename", "renameat",
              "renameat2", "unlink", "unlinkat", "link", "chmod", "fchmodat")


def at_call(strace: str, name: str, number: int, *, alone: bool = False) -> list:
    """A command prefix that kills the process that makes this call, before it is made; `alone`: the
    children of the command are not watched."""
    return [strace, *([] if alone else ["-f"]), "-o", os.devnull, "-e", f"trace={name}",
            "-e", f"inject={name}:signal=KILL:when={number}"]


def calls_of(strace: str, log: Path, names, *command, check=True,
             **options) -> list[tuple[str, int, str]]:
    """Runs a command; returns the calls of these names that it makes: name, number and text."""
    subprocess.run([strace, "-f", "-o", log, "-e", f"trace={','.join(names)}", *command],
                   check=check, capture_output=True, **options)
    counts, found = {}, {}
    for line in log.read_text().splitlines():
        process, text = line.split(maxsplit=1)
        if call := re.match(r"(\w+)\(", text):
            number = counts[process, call[1]] = counts.get((process, call[1]), 0) + 1
            found.setdefault((call[1], number), text)
    return [(*call, text) for call, text in found.items()]


def writing_calls(strace: str, log: Path, *command) -> list[tuple[str, int]]:
    """Runs a command; returns the calls by which it may change a file, name and number."""
    calls = calls_of(strace, log, FILE_CALLS, *command)
    return [(name, number) for name, number, text in calls if "O_RDONLY" not in text]
