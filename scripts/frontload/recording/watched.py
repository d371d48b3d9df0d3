"""A recording that is over when the command is ready, not when it ends.

frontload-exec waits for that, and ends the command. Traces are complete at any moment, so only the
size of each when the command is ready has to be known: recorders have no part in this. Touches of
the command while it is being ended do not count.
"""

import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from frontload.base import tools
from frontload.base.exec_line import ExecLine
from frontload.base.ready import Ready
from frontload.base.typed import Self
from frontload.profile import trace

_POLL_SECONDS = 0.02


class Watched:
    """`has_end`: the recorder itself waits for a function, and notes the end in the trace; then the
    command is also ready. `traces` lists those of this recording."""

    def __init__(self, ready: Ready, has_end: bool, traces: Callable[[], list[Path]], *,
                 name: str):
        self._name = name
        self._traces = traces
        self._slots: dict[Path, int] | None = None
        self.is_ready = False
        self._over = threading.Event()
        self._folder = tempfile.TemporaryDirectory(prefix="frontload-ready.") if has_end else None
        self._mark = Path(self._folder.name, "ready") if self._folder else Path()
        # Our own file, unless the user waits for one.
        if self._folder and not ready.file:
            ready = replace(ready, file=str(self._mark))
        self._line = ExecLine(ready)

    @property
    def prefix(self) -> Sequence[str]:
        """The prefix of the recorder."""
        return [str(tools.tool("frontload-exec")), *self._line.options, f"--name={self._name}",
                "--"]

    @property
    def descriptors(self) -> Sequence[int]:
        """The descriptors that the prefix has to inherit."""
        return self._line.descriptors

    def until_ready(self) -> None:
        """Waits until the command is ready, or has ended."""
        watcher = threading.Thread(target=self._wait_for_end) if self._folder else None
        if watcher:
            watcher.start()
        self.is_ready = b'"ready"' in self._line.read()
        self._over.set()
        if watcher:
            watcher.join()
        if self.is_ready:
            self._slots = {path: trace.count_slots(path) for path in self._traces()}
        self._line.release()

    def _wait_for_end(self) -> None:
        """Makes the awaited file when a trace records the end of startup."""
        while not self._over.wait(_POLL_SECONDS):
            for path in self._traces():
                with suppress(OSError):
                    if trace.has_ended(path):
                        self._mark.touch()
                        return

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_) -> None:
        if self._slots is not None:
            for path in self._traces():
                if path not in self._slots:
                    path.unlink()  # of a process that did not exist when the command was ready
                elif not trace.has_ended(path):
                    trace.end_at(path, self._slots[path])
        self._line.close()
        if self._folder:
            self._folder.cleanup()
