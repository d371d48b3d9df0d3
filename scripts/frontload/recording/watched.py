"""A recording that is over when the command is ready, not when it ends.

frontload-exec waits for that, and ends the command. What recorders write is complete at any moment,
so how much of each trace there is when the command is ready is all that has to be known: no
recorder has a part in this. What the command touches while it is ended counts no more.
"""

import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Self

from frontload.base import tools
from frontload.base.exec_line import ExecLine
from frontload.base.ready import Ready
from frontload.profile import trace

_POLL_SECONDS = 0.02


class Watched:
    """`has_end`: the recorder itself knows an end, a function, and notes it in the trace; then the
    command is ready, too. `traces` lists those of this recording."""

    def __init__(self, ready: Ready, has_end: bool, traces: Callable[[], list[Path]], *,
                 name: str):
        self._name = name
        self._traces = traces
        self._slots: dict[Path, int] | None = None
        self.is_ready = False
        self._over = threading.Event()
        self._folder = tempfile.TemporaryDirectory(prefix="frontload-ready.") if has_end else None
        self._mark = Path(self._folder.name, "ready") if self._folder else Path()
        # Without a file of its own, the one that the user waits for.
        if self._folder and not ready.file:
            ready = replace(ready, file=str(self._mark))
        self._line = ExecLine(ready)

    @property
    def prefix(self) -> Sequence[str]:
        """What goes before the recorder."""
        return [str(tools.tool("frontload-exec")), *self._line.options, f"--name={self._name}",
                "--"]

    @property
    def descriptors(self) -> Sequence[int]:
        """What that has to inherit."""
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
        """Makes the file that is waited for when a trace says that startup is over."""
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
                    path.unlink()  # of a process that was not there when the command was ready
                elif not trace.has_ended(path):
                    trace.end_at(path, self._slots[path])
        self._line.close()
        if self._folder:
            self._folder.cleanup()
