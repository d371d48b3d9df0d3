"""The valid roles of a process: see instrument/format/frontload_role.h. Apart from the reader of
traces, because command lines are checked before anything large is imported."""

import re

NO_ROLE = "not a role, which is 1 to 31 printable ASCII characters without spaces"
_ROLE = re.compile("[!-~]{1,31}")


def is_role(text: str) -> bool:
    return _ROLE.fullmatch(text) is not None
