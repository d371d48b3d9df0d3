"""Which names of several builds are names of one function.

Builds call some functions by other names each time, such as Rust, which puts a hash of the crate's
version into them. A link takes such names for the same by the rules of lldplugin/names, which
frontload-resolve applies; here names of builds, or of profiles, are *alike* by these rules if no
name is in both. Names that the rules cannot tell apart, as those of the instances of a generic
function are, are alike all together.
"""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from frontload.profile import format as profile
from frontload.profile import resolver
from frontload.profile.startup_profile import Name, Profile, Touch

_FIELD, _LINE = b"\0", b"\n"  # what ends these in a list of symbols


class Alike(NamedTuple):
    """A name of one build, what it may be called in another, and by which rule."""

    old: Name
    new: Name
    how: str


def alike(old: Sequence[Name], new: Sequence[Name]) -> Iterator[Alike]:
    """Which new names a link would find for the old ones."""
    entries = [name for name in old if name.has_symbol]
    listed = [name for name in new
              if name.has_symbol and not any(end in name.name + name.file
                                             for end in (_FIELD, _LINE))]
    if not entries or not listed:
        return
    lost = Profile(b"", 1, {name: Touch(1, rank) for rank, name in enumerate(entries)}, data_runs=1)
    entries = [name for name, _ in lost.in_order()]
    with tempfile.TemporaryDirectory(prefix="frontload-") as folder:
        path, symbols = Path(folder, "gone"), Path(folder, "come")
        path.write_bytes(profile.to_bytes(lost))
        symbols.write_bytes(b"".join(
            _FIELD.join((name.file or b"-", b"local" if name.file else b"global", name.name, b""))
            + _LINE for name in listed))
        places = resolver.resolve_listed(str(path), str(symbols)).places
    for place in sorted(places, key=lambda place: (place.entry, place.value)):
        before, after = entries[place.entry], listed[place.value]
        if before.kind == after.kind:
            yield Alike(before, after, place.how)
