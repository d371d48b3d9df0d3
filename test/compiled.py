"""What tests compile, kept by content: the same program is made once, whichever test, process or
run of the tests asks for it.

A *key* is all that decides what a command makes: its words, the contents of its sources and of each
file that a word names, itself or its folder (so of ld.frontload and our libraries, too), and the
versions of the compiler and of the system's packages. Paths of the checkout and of its build count
by what is in them, so that every checkout of a user has the same keys. What was made lies in a
folder of the cache that is named by the hash of its key. Nothing there is changed afterwards: a
test that changes a program takes a copy, and so does one that looks at the page cache, whose pages
another test might hold.

Two processes may ask for the same thing at once: one makes it, the other waits. What a killed
process has left half made is made anew. A day's first user drops what nobody has used for a week,
and, beyond a limit, what was used least recently.
"""

import fcntl
import functools
import hashlib
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from places import BUILD, CACHE, ROOT

STORE = CACHE
_TEMPORARY = "/pytest-of-"  # in the paths of pytest's temporary folders
_COMPLETE = ".complete"  # in a folder that is; its time is that of the last use
_DAY = 24 * 3600
KEEP_SECONDS = 7 * _DAY
KEEP_BYTES = 2 << 30
_PATH_IN_WORD = re.compile(r"/[^,:=]+")
# Packages put things here, and whatever they do there changes the list of packages.
_PACKAGES = "/var/lib/dpkg/status"
_OF_PACKAGES = ("/usr/", "/lib", "/bin/", "/etc/", "/opt/")
_ENVIRONMENT = re.compile(r"CPATH|\w+_INCLUDE_PATH|LIBRARY_PATH|COMPILER_PATH|GCC_\w+|CCC_\w+")


def kept(make: Callable[[Path], None], *key, store: Path = STORE) -> Path:
    """The folder that `make` fills, given a new one, once for each key: its parts are texts, bytes,
    numbers, and paths, which stand for what is in them."""
    name = _hash(*key)
    folder, complete = store / name, store / name / _COMPLETE
    store.mkdir(parents=True, exist_ok=True)
    with _locked(store / f"{name}.lock"):
        if not complete.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
            complete.touch()
        else:
            os.utime(complete)
    _sweep_daily(store)
    return folder


def compiled(*command, output: str, sources: Mapping[str, str | Path],
             store: Path = STORE) -> Path:
    """The file `output` that a compiler makes of `sources`, which it finds by their names in its
    working folder. It is asked to by `command` and `-o output`, and has to succeed in silence or
    with warnings only."""
    def make(folder: Path) -> None:
        _compile(folder, [*command, "-o", output], sources)

    parts = [part for item in sorted(sources.items()) for part in item]
    return kept(make, "compiled", *command_key(command), output, *parts, store=store) / output


def compile_to(output: Path, *command, sources: Mapping[str, str | Path]) -> Path:
    """As compiled(), as the file `output`, a copy which is the caller's own; sources that are given
    as text lie beside it. What a test has made in its temporary folder it names for the first and
    last time: a command with that is not kept."""
    for name, text in sources.items():
        if isinstance(text, str):
            (output.parent / name).write_text(text)
    if any(_TEMPORARY in os.fspath(word) for word in command):
        _compile(output.parent, [*command, "-o", output], sources)
    else:
        output.unlink(missing_ok=True)  # what another name is a link to stays as it is
        shutil.copy(compiled(*command, output=output.name, sources=sources), output)
    return output


def _compile(folder: Path, command, sources: Mapping[str, str | Path]) -> None:
    for name, text in sources.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text if isinstance(text, str) else text.read_text())
    command = [os.fspath(word) for word in command]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, f"{command}\n{result.stdout}{result.stderr}"


def command_key(command) -> list:
    """What decides what a command makes, but for the files in its working folder: its words, what
    lies where they point to, and the tools."""
    program, *words = map(os.fspath, command)
    tools = [shutil.which(program) or program, _PACKAGES]
    return [*map(_anywhere, (program, *words)),
            *(file for word in words for file in _named(word)),
            *(_file_contents(Path(tool)) for tool in tools if os.path.exists(tool)),
            *(f"{name}={value}" for name, value in sorted(os.environ.items())
              if _ENVIRONMENT.fullmatch(name))]


def _anywhere(word: str) -> str:
    """A word as it is in every checkout; not where its path is kept in what is made."""
    if "rpath" in word or word.endswith(".so"):
        return word
    return word.replace(str(BUILD), "BUILD").replace(str(ROOT), "ROOT")


def _named(word: str) -> Iterator[Path]:
    """The files that a word names, and those of folders that it names."""
    for found in _PATH_IN_WORD.findall(word):
        path = Path(found)
        if path.is_file():
            yield path
        elif path.is_dir() and len(path.parts) > 2 and not found.startswith(_OF_PACKAGES):
            yield from sorted(file for file in path.iterdir() if file.is_file())


def _hash(*parts) -> str:
    whole = hashlib.sha256()
    for part in parts:
        data = _contents(part) if isinstance(part, Path) else str(part).encode()
        whole.update(b"%d %d " % (isinstance(part, Path), len(data)) + data)
    return whole.hexdigest()[:32]


def _contents(path: Path) -> bytes:
    """What is in a file, or in all files of a folder, as a digest."""
    if not path.is_dir():
        return _file_contents(path)
    return b"".join(os.fsencode(file.relative_to(path)) + b"\0" + _file_contents(file)
                    for file in sorted(path.rglob("*"))
                    if file.is_file() and "__pycache__" not in file.parts)


def _file_contents(path: Path) -> bytes:
    status = path.stat()
    return _digest(os.path.realpath(path), status.st_size, status.st_mtime_ns)


@functools.cache
def _digest(path: str, size: int, time: int) -> bytes:
    """A file of a package is known by its place, size and time."""
    if path.startswith(_OF_PACKAGES) or path == _PACKAGES:
        return f"{path} {size} {time}".encode()
    return hashlib.sha256(Path(path).read_bytes()).digest()


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Holds a lock, which ends with its process at the latest."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _sweep_daily(store: Path) -> None:
    swept = store / "swept"
    if not swept.exists() or time.time() - swept.stat().st_mtime > _DAY:
        swept.touch()
        sweep(store)


def sweep(store: Path, keep_seconds: float = KEEP_SECONDS, keep_bytes: int = KEEP_BYTES) -> None:
    """Drops what nobody has used for long, and what is beyond the limit of size. What was used
    within the hour stays: a test that runs may be about to read it."""
    now, total = time.time(), 0
    used = {path.parent: path.stat().st_mtime for path in store.glob(f"*/{_COMPLETE}")}
    for folder, last in sorted(used.items(), key=lambda item: item[1], reverse=True):
        total += sum(file.lstat().st_size for file in folder.rglob("*"))
        if now - last > keep_seconds or (total > keep_bytes and now - last > 3600):
            # First: what is half removed is not complete. Another test may be at it, too.
            (folder / _COMPLETE).unlink(missing_ok=True)
            shutil.rmtree(folder, ignore_errors=True)
    for lock in store.glob("*.lock"):
        if not lock.with_suffix("").exists() and now - lock.stat().st_mtime > keep_seconds:
            lock.unlink()
    # Python's bytecode of what tests have made (CMakeLists.txt has Python keep it here).
    shutil.rmtree(store / "python" / "tmp", ignore_errors=True)
