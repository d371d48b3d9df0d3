"""Shared by the programs of the bench: options, progress, and how they end."""

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from frontload.base import errors, processes
from rich.console import Console

ROOT = Path(__file__).parents[2]


def add_build_dir(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--build-dir", metavar="DIR", type=Path, default=ROOT / "build",
                        help="where Frontload was built (default %(default)s)")


def add_build_options(parser: argparse.ArgumentParser) -> None:
    """The folders of the programs that make variants."""
    add_build_dir(parser)
    parser.add_argument("--llvm", metavar="DIR", type=Path, default=Path("/usr/lib/llvm-22"),
                        help="the LLVM to compile and link with (default %(default)s)")


def choose(option: str, text: str, known: Sequence[str], what: str) -> tuple[str, ...]:
    """The names in a comma-separated list."""
    wanted = tuple(dict.fromkeys(text.split(",")))
    if unknown := set(wanted) - set(known):
        raise errors.Failure(f"{option}: {', '.join(sorted(unknown))}: no such {what}",
                             note=f"there are: {', '.join(known)}")
    return wanted


def chosen_packages(names: Sequence[str], entries: dict[str, dict], file: Path) -> dict[str, dict]:
    """The entries of a list with these names, or all; those that are left out are not built."""
    if unknown := set(names) - set(entries):
        raise errors.Failure(f"{file}: has no {', '.join(sorted(unknown))}")
    return {name: entry for name, entry in entries.items()
            if name in (names or entries) and "left_out" not in entry}


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """Within `with`, a function that reports progress on the terminal."""
    with Console(stderr=True).status("") as status:
        yield status.update


def end(run: Callable[[], int], program: str) -> int:
    """Does the work of `program`; returns its exit status, or that of its error."""
    try:
        with processes.unwinding_on_signals():
            return run()
    except errors.Failure as failure:
        errors.error(failure.message)
        if failure.note:
            errors.note(failure.note)
        return failure.code
    except OSError as problem:
        errors.error(f"{problem.filename or program}: {problem.strerror or problem}")
        return errors.EXIT_USAGE
    except errors.Interrupted as interrupted:
        errors.error(f"{interrupted}: ended, and cleaned up")
        return interrupted.exit_status
