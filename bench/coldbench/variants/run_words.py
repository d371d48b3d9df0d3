"""Runs the tools that make a variant (compilers, linkers, and our own) with their environment."""

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from frontload.base import errors


def run_words(words: Sequence[os.PathLike | str], folder: Path) -> None:
    """Runs a tool in `folder`; if it fails, we end with the end of its output."""
    done = subprocess.run([os.fspath(word) for word in words], cwd=folder, text=True,
                          errors="replace", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    if done.returncode:
        raise errors.Failure(f"{words[0]}: ended with status {done.returncode}",
                             note=done.stdout.strip()[-2000:] or None)


@contextmanager
def environment(changes: Mapping[str, str]) -> Iterator[None]:
    """Within `with`, commands also find these variables."""
    before = dict(os.environ)
    os.environ.update(changes)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
