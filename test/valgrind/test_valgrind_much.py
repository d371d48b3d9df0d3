"""Files that say of all their parts that they are in one place: they are read in a time that their
size bounds."""

import resource
from functools import partial

from grown import SYMTAB, same_place
from recorded import Binary

MANY = 60_000  # of which the header of a file can tell the number


def test_symbol_tables_in_one_place(compile, record):
    """A function that --until names is looked for in 24 megabytes, not in 60,000 times as many."""
    program = compile("int my_data[8]; int main(void) { return my_data[4] + 3; }")
    binary = Binary(program)
    same_place(SYMTAB, 0, bytes(24), 1_000_000, MANY)(program)
    recording = record("--until=no_function", "--", program, preexec_fn=partial(
        resource.setrlimit, resource.RLIMIT_CPU, (60, 60)))
    assert recording.status == 3
    assert binary.touches(recording.trace) == ["main", "my_data+16"]
