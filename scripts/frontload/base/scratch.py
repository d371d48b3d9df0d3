"""A temporary folder that does not outlive its process for long: after SIGKILL the next process
removes it. Users of a folder hold a lock on it, which the kernel releases when they end."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def scratch_folder(prefix: str, inside: Path | None = None) -> Iterator[Path]:
    """A folder in $TMPDIR, or in `inside`, whose name begins with `prefix`; removes unused ones."""
    place = inside or Path(tempfile.gettempdir())
    _remove_stale(prefix, place)
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=place))
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        if _take(lock) and folder.exists():
            break
        os.close(lock)  # another process took it for stale before we had the lock
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _take(lock: int) -> bool:
    with suppress(OSError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def _remove_stale(prefix: str, place: Path) -> None:
    for folder in place.glob(f"{prefix}*"):
        with suppress(OSError):
            if folder.stat().st_uid != os.geteuid():
                continue
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            if _take(lock):
                shutil.rmtree(folder, ignore_errors=True)
            os.close(lock)
