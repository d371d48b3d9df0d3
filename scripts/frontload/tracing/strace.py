"""strace's text: the calls of processes, and the paths in them.

    8 execve("/usr/bin/cc", ["cc", "m.o"], 0x1 /* 9 vars */) = 0
    openat(AT_FDCWD</home>, "x", O_RDONLY|O_CLOEXEC) = 3</home/x>

A number before a call is its process (with -f). With -y a descriptor is followed by its path in
angle brackets, as AT_FDCWD is by the folder of the process. Calls that strace cut or left
unfinished are read as far as they go.
"""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from frontload.base import tools

_STRING = r'"((?:[^"\\]|\\.)*)"'
_PATH = r"<((?:[^<>\\]|\\.)*)>"
_CALL = re.compile(r"(?:\d+ +)?(\w+)\(")
_BASE = re.compile(rf"(AT_FDCWD|\d+)(?:{_PATH})?(?:, |(?=\)))")
_FIRST = re.compile(_STRING)
_ITEM = r'(?:"(?:[^"\\]|\\.)*"(?:\.\.\.)?|\.\.\.)'
_LIST = rf"\[((?:{_ITEM}(?:, {_ITEM})*)?)\]"
_ARGUMENTS = re.compile(rf", {_LIST}, (?:{_LIST}|0x[0-9a-f]+(?: /\* \d+ vars? \*/)?|NULL)")
_ARGUMENT = re.compile(rf"{_STRING}(\.\.\.)?")
_RESULT = re.compile(rf".*\) += (-?\d+)(?:{_PATH})?(?: \D.*)?$")
_MAPPED = re.compile(rf", \d+{_PATH}, \w+\)")
_ESCAPE = re.compile(rb"\\(?:([0-7]{1,3})|(.))", re.DOTALL)
_LETTERS = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"v": b"\v", b"f": b"\f"}
_FLAG = re.compile(r"\bO_[A-Z]+\b")


@dataclass(frozen=True)
class Call:
    """A call and the paths in it, as far as they are known.

    base: the path of the descriptor that is its first argument
    is_in_folder: whether that descriptor is AT_FDCWD, so that `base` is the process's folder
    path: its first string
    arguments: those of an executed program; none if strace has cut one of them
    result: None if the call has not ended in this line
    opened: the path of the resulting descriptor, or of the one that is mapped
    environment: that of an executed program (with -v), in the form NAME=VALUE
    """

    name: str
    base: str | None
    is_in_folder: bool
    path: str | None
    arguments: tuple[str, ...]
    flags: frozenset[str]
    result: int | None
    opened: str | None
    environment: tuple[str, ...] = ()


def watching(names: Sequence[str], log: os.PathLike[str] | str, *options: str,
             remedy: str) -> list[str]:
    """The prefix of a command that writes its calls of these names to `log`."""
    return [str(tools.program("strace", remedy)), *options, "-qq", "-y", "-e",
            f"trace={','.join(names)}", "-e", "signal=none", "-o", os.fspath(log), "--"]


def calls(lines: Iterable[str]) -> Iterator[Call]:
    """The calls in a text; other lines are skipped."""
    for line in lines:
        if call := _call(line):
            yield call


def _call(line: str) -> Call | None:
    found = _CALL.match(line)
    if found is None:
        return None
    base = _BASE.match(line, found.end())
    path = _FIRST.match(line, base.end() if base else found.end())
    end = (path or base or found).end()
    words = _ARGUMENTS.match(line, end)
    end = words.end() if words else end
    result = _RESULT.match(line, end)
    flags = _FLAG.findall(line, end, result.start(1) if result else len(line))
    return Call(found[1], _unescaped(base, 2), base is not None and base[1] == "AT_FDCWD",
                _unescaped(path, 1), _words(words[1]) if words else (), frozenset(flags),
                result and int(result[1]), _unescaped(result, 2)
                or _unescaped(_MAPPED.search(line, end), 1),
                _words(words[2]) if words and words[2] else ())


def _words(text: str) -> tuple[str, ...]:
    strings = list(_ARGUMENT.finditer(text))
    if any(match[2] for match in strings):
        return ()  # longer than strace was told to show
    return tuple(_text(match[1]) for match in strings)


def _unescaped(found: re.Match[str] | None, group: int) -> str | None:
    return None if found is None or found[group] is None else _text(found[group])


def _text(text: str) -> str:
    return os.fsdecode(_ESCAPE.sub(_byte, text.encode("ascii", "replace")))


def _byte(escape: re.Match[bytes]) -> bytes:
    if escape[1]:
        return bytes([int(escape[1], 8) & 0xff])
    return _LETTERS.get(escape[2], escape[2])
