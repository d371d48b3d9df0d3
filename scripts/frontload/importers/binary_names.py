"""Finds what an input names in the program itself: whether it is there, and as what.

A name that one symbol has is that symbol. Of several (static functions, data) it is the one of the
source file that the input names; if it names none, the name stays one for all of them, as lld reads
it, and is reported as ambiguous. A name that the program has, but only uses, is another file's.
"""

import os
from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from frontload import elf, resolve
from frontload.importers.interface import Mention
from frontload.profile import Name


class BinaryNames:
    """The names of one linked file."""

    def __init__(self, linked: elf.Elf):
        self._symbols = linked.linked_symbols()
        self._classes = linked.section_classes
        code, data = resolve.nameable(linked)
        self._is_code = code
        members = np.flatnonzero(code | data)
        self._members: defaultdict[bytes, list[int]] = defaultdict(list)
        for index, name in zip(members.tolist(), self._symbols.names.some(members), strict=True):
            self._members[name].append(index)
        self._used = {name for table in (self._symbols, linked.dynamic_symbols) if table is not None
                      for name in table.names.some(np.flatnonzero(table.section == elf.UNDEFINED))}
        self.ambiguous: list[bytes] = []
        self.of_others: list[bytes] = []
        self.missing: list[bytes] = []

    def look_up(self, mentions: Iterable[Mention]) -> dict[Mention, Name]:
        """The names of those that the program has. Notes what became of the others."""
        found = {}
        for mention in dict.fromkeys(mentions):
            name = self._look_up(mention)
            if name is not None:
                found[mention] = name
        return found

    def _look_up(self, mention: Mention) -> Name | None:
        for section_class, name in mention.readings or ((mention.section_class, mention.name),):
            candidates = [index for index in self._members.get(name, ())
                          if not section_class or (section_class == "text") == self._is_code[index]]
            if candidates:
                return self._name(name, candidates, os.path.basename(mention.file))
        of_library = mention.name.partition(b"@")[0]
        if of_library in self._used or mention.name.endswith(b"@plt"):
            self.of_others.append(mention.name)
        else:
            self.missing.append(mention.name)
        return None

    def _name(self, name: bytes, candidates: list[int], file: bytes) -> Name:
        names = sorted({self._entry(name, index) for index in candidates})
        here = [each for each in names if os.path.basename(each.file) == file]
        if len(names) == 1 or len(here) == 1:
            return (here or names)[0]
        self.ambiguous.append(name)
        return names[0]._replace(file=b"")

    def _entry(self, name: bytes, index: int) -> Name:
        return Name("function" if self._is_code[index] else "data",
                    self._classes[self._symbols.section[index]], name,
                    self._symbols.source_file(index))
