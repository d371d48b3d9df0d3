"""Standard streams that the caller has closed.

The next opened file would get the number of a closed stream: a message would be written into the
profile that is being made. So each number is taken at the start. Reading a closed stdin or writing
to a closed stdout fails with EBADF, as with ls(1); messages to a closed stderr are lost.
"""

import os
import sys


def reopen_closed() -> None:
    """To be called before opening any file that stays open."""
    # In the wrong direction, so that any use fails.
    for number, mode in enumerate((os.O_WRONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)
    # Python has no stream for a closed number.
    sys.stdin = sys.stdin or os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = sys.stdout or os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", encoding="utf-8", closefd=False)
