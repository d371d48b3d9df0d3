"""Finds what an input names in the program itself: whether it is there, and as what.

A name that one symbol has is that symbol. Of several (static functions, data) it is the one of the
source file that the input names; if it names none, the name stays one for all of them, as lld reads
it, and is reported as ambiguous. A name that the program has, but only uses, is another file's.

What no symbol is named exactly is looked up as links do it (names.py): an input may be of another
build, whose compiler made other clones. Of several that are equally good all count.
"""

import os
import tempfile
from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from frontload import elf, names, profile, resolve
from frontload.importers.interface import Mention
from frontload.profile import Name


class BinaryNames:
    """The names of one linked file."""

    def __init__(self, linked: elf.Elf):
        self._path = linked.path
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

    def look_up(self, mentions: Iterable[Mention]) -> dict[Mention, list[Name]]:
        """The names of those that the program has. Notes what became of the others."""
        found: dict[Mention, list[Name]] = {}
        unknown = []
        for mention in dict.fromkeys(mentions):
            name = self._exact(mention)
            if name is not None:
                found[mention] = [name]
            elif mention.name.partition(b"@")[0] in self._used or mention.name.endswith(b"@plt"):
                self.of_others.append(mention.name)
            else:
                unknown.append(mention)
        if unknown:
            found |= self._inexact(unknown)
        self.missing = [mention.name for mention in unknown if mention not in found]
        return found

    def _exact(self, mention: Mention) -> Name | None:
        for section_class, name in mention.readings or ((mention.section_class, mention.name),):
            candidates = [index for index in self._members.get(name, ())
                          if not section_class or (section_class == "text") == self._is_code[index]]
            if candidates:
                return self._name(name, candidates, os.path.basename(mention.file))
        return None

    def _inexact(self, unknown: list[Mention]) -> dict[Mention, list[Name]]:
        asked = {Name("function", "text", mention.name, mention.file): mention
                 for mention in unknown}
        question = profile.from_run(b"unknown", list(asked))
        with tempfile.NamedTemporaryFile(suffix=".startup") as file:
            file.write(profile.to_bytes(question))
            file.flush()
            places = names.resolve(file.name, [self._path]).places
        entries = list(question.touches)
        found: defaultdict[Mention, set[Name]] = defaultdict(set)
        for place in places:
            found[asked[entries[place.entry]]] |= {
                self._entry(place.symbol, index) for index in self._members.get(place.symbol, ())
                if self._symbols.value[index] == place.value}
        return {mention: sorted(each) for mention, each in found.items() if each}

    def _name(self, name: bytes, candidates: list[int], file: bytes) -> Name:
        entries = sorted({self._entry(name, index) for index in candidates})
        here = [entry for entry in entries if os.path.basename(entry.file) == file]
        if len(entries) == 1 or len(here) == 1:
            return (here or entries)[0]
        self.ambiguous.append(name)
        return entries[0]._replace(file=b"")

    def _entry(self, name: bytes, index: int) -> Name:
        return Name("function" if self._is_code[index] else "data",
                    self._classes[self._symbols.section[index]], name,
                    self._symbols.source_file(index))
