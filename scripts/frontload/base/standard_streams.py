"""Standard streams that the caller has closed.

The next file that is opened would get the number of a closed one: a message would be written into
the profile that is being made. So each number is taken at the start. What reads stdin or writes to
stdout, closed, fails with EBADF, as with ls(1); what is said to a closed stderr, nobody hears.
"""

import os
import sys


def reopen_closed() -> None:
    """To be called before any file is opened that stays open."""
    # In the wrong direction, so that to use it fails.
    for number, mode in enumerate((os.O_WRONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)
    # Python has none where it found a number closed.
    sys.stdin = sys.stdin or os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = sys.stdout or os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", encoding="utf-8", closefd=False)
