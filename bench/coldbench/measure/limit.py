"""The limit: how many bytes of its file a start really uses, whatever the layout.

We count granules of 16 bytes in the traces of `frontload record --data`, and only where the file
has contents: memory that starts as zero (.bss) is not read. No trace sees the loader's work, so we
add every place that it relocates. Its tables of these places do not count: packed, they take next
to nothing.
"""

import os
from collections.abc import Iterable

import numpy as np
from frontload.elf import constants, relocations
from frontload.elf import file as elf
from frontload.elf.loading import read_loading
from frontload.profile import trace
from frontload.profile.trace import GRANULE

_GRANULAR = (trace.CODE, trace.DATA)


def touched_bytes(binary: os.PathLike | str, traces: Iterable[os.PathLike | str]) -> int:
    """The bytes of the file that all these traces together, and the loader, have touched."""
    file, loading = elf.read(binary), read_loading(binary)
    touched = [loading.relocations.offset.astype(np.uint64),
               *relocations.unpacked(loading.packed, loading.word)]
    for path in traces:
        recorded = trace.read(path)
        for number, module in enumerate(recorded.modules):
            if module.build_id == file.build_id:
                chosen = (recorded.owners == number) & np.isin(recorded.kinds, _GRANULAR)
                touched.append(recorded.addresses[chosen])
    granules = np.unique(np.concatenate(touched) & ~np.uint64(GRANULE - 1))
    return int(np.count_nonzero(_has_contents(file, granules))) * GRANULE


def _has_contents(file: elf.Elf, addresses: np.ndarray) -> np.ndarray:
    """Which granules overlap a section that is loaded from the file."""
    sections = file.sections[(file.sections["flags"] & constants.SHF_ALLOC != 0)
                             & (file.sections["type"] != constants.SHT_NOBITS)
                             & (file.sections["size"] > 0)]
    sections = sections[np.argsort(sections["addr"], kind="stable")]
    if not len(sections):
        return np.zeros(len(addresses), bool)
    starts = sections["addr"].astype(np.uint64)
    ends = np.maximum.accumulate(starts + sections["size"].astype(np.uint64))
    before = np.searchsorted(starts, addresses + np.uint64(GRANULE), side="left")
    return (before > 0) & (ends[np.maximum(before, 1) - 1] > addresses)
