"""Which part of a file each ELF section takes, to attribute reads to sections."""

import os
from dataclasses import dataclass

from frontload.base.arrays import np
from frontload.base.errors import BadData
from frontload.elf import constants
from frontload.elf import file as elf
from frontload.pagecache.residency import Residency

_SHT_NULL = 0
NO_SECTION = "(no section)"  # headers, padding, and all of a file that is not ELF


@dataclass(frozen=True)
class Section:
    name: str
    offset: int
    size: int


def file_sections(path: os.PathLike[str] | str) -> list[Section]:
    """The sections that have bytes in the file, by offset; none for a file that is not ELF."""
    try:
        file = elf.read(path)
    except BadData:
        return []
    return sorted((Section(name.decode(errors="backslashreplace"), offset, size)
                   for name, kind, offset, size
                   in zip(file.section_names, file.sections["type"].tolist(),
                          file.sections["offset"].tolist(), file.sections["size"].tolist(),
                          strict=True)
                   if kind not in (_SHT_NULL, constants.SHT_NOBITS) and size),
                  key=lambda section: section.offset)


def bytes_per_section(residency: Residency, sections: list[Section]) -> dict[str, int]:
    """The resident bytes of each section. Sections of one name are added up."""
    # Offsets and sizes come from the file and may be anything.
    starts = np.array([min(section.offset, residency.size) for section in sections], dtype=np.int64)
    ends = np.array([min(section.offset + section.size, residency.size) for section in sections],
                    dtype=np.int64)
    resident = residency.bytes_before(ends) - residency.bytes_before(starts)
    found: dict[str, int] = {}
    for section, count in zip(sections, resident.tolist(), strict=True):
        found[section.name] = found.get(section.name, 0) + count
    rest = residency.resident_bytes - sum(found.values())
    if rest > 0:
        found[NO_SECTION] = rest
    return found
