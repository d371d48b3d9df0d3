"""Opening input files, and writing output files whole or not at all."""

import hashlib
import json
import os
import stat
import sys
import tempfile
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

from frontload.base.errors import BadData, Failure, printable

STDOUT = "-"  # in the place of an output file's path



def open_input(path: os.PathLike[str] | str, note: str | None = None) -> BufferedReader:
    """Opens a file that must exist; `note` is the remedy if it does not."""
    try:
        if os.path.isdir(path):
            raise IsADirectoryError(21, "is a directory, not a file")
        return open(path, "rb")
    except OSError as problem:
        raise Failure(f"{os.fspath(path)}: {problem.strerror}", note=note) from problem


def must_be_file(path: os.PathLike[str] | str) -> None:
    """Refuses files that can be read only once, such as pipes."""
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        raise Failure(f"{os.fspath(path)}: is not a file but a stream, and cannot be read twice",
                      note="write it to a file first")


def sha256(stream: BinaryIO) -> str:
    """The hash of the rest of a file, in hexadecimal digits."""
    found = hashlib.sha256()
    while piece := stream.read(1 << 20):
        found.update(piece)
    return found.hexdigest()


def read_text(path: os.PathLike[str] | str) -> str:
    """The text of a system file, in any locale; it may hold any bytes."""
    return Path(path).read_text("utf-8", "surrogateescape")


def parse_json(data: bytes | str, path: os.PathLike[str] | str,
               note: str | None = None) -> object:
    """The value of a file's JSON; BadData with the note if it is not JSON."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as problem:
        raise BadData(path, f"not JSON: {problem}", note=note) from problem


def is_stdout(path: os.PathLike[str] | str | None) -> bool:
    """Whether a user's output file means stdout: none given, or `-`."""
    return path is None or os.fspath(path) == STDOUT


def write_output(path: os.PathLike[str] | str | None, data: bytes) -> None:
    """Writes a result to `path`, or to stdout if there is none or it is `-`.

    Every verb writes its results with this function, so `-` means the same in all of them.
    On a terminal, names are escaped: they come from foreign files and could steer it.
    """
    if path is not None and not is_stdout(path):
        write_if_changed(path, data)
        return
    sys.stdout.buffer.write(_for_terminal(data) if sys.stdout.isatty() else data)
    sys.stdout.buffer.flush()


def _for_terminal(data: bytes) -> bytes:
    return "".join(character if character in "\t\n" else printable(character)
                   for character in data.decode("utf-8", "surrogateescape")).encode("utf-8")


def write_json(path: os.PathLike[str] | str | None, document: object, indent: int = 1) -> None:
    """Like write_output, for a value as JSON."""
    write_output(path, json.dumps(document, indent=indent).encode() + b"\n")


def write_profile(path: os.PathLike[str] | str | None, data: bytes) -> None:
    """Like write_output, for a startup profile: makes its folder, which is missing before the
    first."""
    if path is not None and not is_stdout(path):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    write_output(path, data)


def write_if_changed(path: os.PathLike[str] | str, data: bytes) -> bool:
    """Puts `data` at `path` by a temporary file beside it and a rename.

    A file that already holds `data` is left alone, so that builds do not redo its dependents. A
    changed file keeps its permissions. Returns whether the file was written. Devices and pipes
    (/dev/stdout) are written directly.
    """
    path = Path(path)
    if path.exists() and not path.is_file() and not path.is_dir():
        path.write_bytes(data)
        return True
    if path.is_file() and path.read_bytes() == data:
        return False
    path = path.resolve()
    if path.is_dir():
        raise IsADirectoryError(21, "is a directory", str(path))
    try:
        _replace(path, data)
    except OSError as problem:  # the temporary file's name would puzzle readers
        raise OSError(problem.errno, problem.strerror, str(path)) from problem
    return True


def _replace(path: Path, data: bytes) -> None:
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        os.chmod(temporary, _permissions(path))
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _permissions(path: Path) -> int:
    """Those of the existing file, or a new file's default."""
    if path.exists():
        return stat.S_IMODE(path.stat().st_mode) & 0o777
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask
