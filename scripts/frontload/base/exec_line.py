"""What frontload-exec reports about its one command, and how it is made to wait.

It writes a line of JSON when the command has ended or is ready. It ends a ready command only after
release(), so that we can look at the state by then.
"""

import os

from frontload.base.ready import Ready
from frontload.base.typed import Self


class ExecLine:
    """Within `with`, the pipes to one frontload-exec: start it with `options` and `descriptors`,
    then read(), then release(). `ready`: what to wait for."""

    def __init__(self, ready: Ready | None = None):
        self._line, told = os.pipe()
        self.options = [f"--fd={told}"]
        self._open = {self._line, told}
        # frontload-exec inherits them, and the command does not.
        self.descriptors = [told]
        self._hold = None
        if ready is not None:
            held, self._hold = os.pipe()
            self._open |= {held, self._hold}
            self.descriptors.append(held)
            self.options += [f"--acknowledged-by={held}", *ready.options()]
        for descriptor in self.descriptors:
            os.set_inheritable(descriptor, True)

    def read(self) -> bytes:
        """The line, once frontload-exec was started; empty if the command could not be run."""
        for descriptor in self.descriptors:
            self._close(descriptor)
        with open(self._line, "rb", closefd=False) as stream:
            return stream.readline()

    def release(self) -> None:
        """Lets frontload-exec end the command, if that is its job."""
        if self._hold in self._open:
            self._close(self._hold)

    def _close(self, descriptor: int) -> None:
        self._open.remove(descriptor)
        os.close(descriptor)

    def close(self) -> None:
        for descriptor in tuple(self._open):
            self._close(descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
