"""Whether a program's objects were compiled such that a linker can move their functions and data.

With -ffunction-sections and -fdata-sections each function and datum has a section of its own.
Without them an object's functions are one section, `.text`, which a linker can only move as a
whole: the front then contains everything that shares a section with startup code. Link-time
optimization always makes a section for each function and datum.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from frontload.base.arrays import np
from frontload.base.errors import Failure
from frontload.elf import archive, constants
from frontload.elf import file as elf
from frontload.elf.section_names import OUTPUTS, shared_class

MAX_OBJECTS = 64  # looked into, from all parts of the list
_MIN_SEPARATE = 0.5  # of the functions: the rest of a build may be third-party code
_INPUTS = (".o", ".obj", ".lo", ".a")
_BITCODE = b"BC\xc0\xde"


@dataclass
class Sections:
    """How many functions and data the objects have, and how many of them share a section."""

    functions: int = 0
    shared_functions: int = 0
    data: int = 0
    shared_data: int = 0
    objects: int = 0
    bitcode: int = 0  # objects for link-time optimization

    @property
    def separate_functions(self) -> bool:
        return self.shared_functions <= _MIN_SEPARATE * self.functions

    @property
    def separate_data(self) -> bool:
        return self.shared_data <= _MIN_SEPARATE * self.data

    def lost(self) -> str:
        """What the missing flags cost; empty if no flag is missing."""
        parts = []
        if not self.separate_functions:
            parts.append(f"{self.shared_functions} of {self.functions} functions "
                         "(-ffunction-sections)")
        if not self.separate_data:
            parts.append(f"{self.shared_data} of {self.data} data (-fdata-sections)")
        if not parts:
            return ""
        return (f"in {self.objects} objects, {' and '.join(parts)} have no section of their own: "
                "the front carries everything that shares a section with what startup needs")


def inputs(arguments: Sequence[str], directory: str) -> list[str]:
    """The objects and archives of a link that are not part of the system."""
    paths = [os.path.join(directory, argument) for argument in arguments
             if argument.endswith(_INPUTS) and not argument.startswith("-")]
    return [path for path in paths if not path.startswith("/usr/") and os.path.isfile(path)]


def look(paths: Sequence[str]) -> Sections:
    """Looks into objects and archives, at most MAX_OBJECTS of them, evenly spread."""
    found = Sections()
    step = max(1, -(-len(paths) // MAX_OBJECTS))
    for path in list(paths)[::step]:
        try:
            for name, data in _objects(path):
                _count(name, data, found)
                if found.objects + found.bitcode >= 2 * MAX_OBJECTS:
                    return found
        except (Failure, OSError):
            continue  # the link will report damaged files
    return found


def _objects(path: str) -> Iterator[tuple[str, bytes]]:
    with open(path, "rb") as file:
        magic = file.read(len(archive.MAGIC))
        if magic not in (archive.MAGIC, archive.THIN_MAGIC):
            file.seek(0)
            yield path, file.read()
            return
    yield from archive.members(path)


def _count(name: str, data: bytes, found: Sections) -> None:
    if data.startswith(_BITCODE):
        found.bitcode += 1
        return
    read = elf.parse(name, data)
    if read.linked or read.symbols is None:
        return
    found.objects += 1
    symbols = read.symbols
    for kind, classes in ((constants.STT_FUNC, {"text"}),
                          (constants.STT_OBJECT, OUTPUTS.keys() - {"text"})):
        sections = symbols.section[(symbols.type == kind) & (symbols.section > 0)
                                   & (symbols.size > 0)]
        shared = [number for number in np.unique(sections).tolist()
                  if shared_class(read.section_names[number]) in classes]
        # The only symbol of such a section does not share it.
        together = sum(count for number in shared
                       if (count := int(np.count_nonzero(sections == number))) > 1)
        if kind == constants.STT_FUNC:
            found.functions += len(sections)
            found.shared_functions += together
        else:
            found.data += len(sections)
            found.shared_data += together
