"""Looks up the names of an input in the program itself: whether each is there, and as what.

If one symbol has a name, the name means that symbol. If several do (static functions, data), it
means the one of the source file that the input names. If the input names none, the name stands for
all of them, as it does for lld, and is reported as ambiguous. A name that the program only refers
to belongs to another file.

A name that no symbol has exactly is looked up as links do it (resolver.py): an input may come from
another build, whose compiler made other clones. If several symbols are equally good, all count.

Addresses in an input decide. Tools print demangled names, which several functions can share, and
static functions can have the same name. But some names belong to one symbol only. Each of them
shows where the program was in memory: the place that most of them show comes first.
"""

import os
import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import compress

from frontload.base.arrays import np
from frontload.base.intervals import Ranges
from frontload.elf import file as elf
from frontload.elf.symbols import UNDEFINED
from frontload.importers.interface import Mention
from frontload.profile import format as profile
from frontload.profile import resolver as names
from frontload.profile import trace
from frontload.profile.addresses import Resolver
from frontload.profile.startup_profile import Name, from_run
from frontload.profile.symbol_names import nameable

_PAGE = 4096
_PROLOGUE = 64  # bytes of a function that may have run when its entry was recorded
_PLACES = 4  # to try: some versions of perf print two kinds of addresses
_WORD = re.compile(rb"\w+")


def _can_mean(readable: bytes, symbol: bytes) -> bool:
    """Whether a demangled name can be a symbol's. This only checks an address."""
    return b"operator" in readable or any(word in symbol for word in _WORD.findall(readable))


class BinaryNames:
    """The names of one linked file."""

    def __init__(self, linked: elf.Elf):
        self._path = linked.path
        self._resolver = Resolver(linked)
        self._symbols = linked.linked_symbols()
        self._classes = linked.section_classes
        code, data = nameable(linked)
        self._is_code = code
        self._code = np.flatnonzero(code)
        self._functions = Ranges(self._symbols.value[self._code], self._symbols.ends()[self._code])
        members = np.flatnonzero(code | data)
        self._members: defaultdict[bytes, list[int]] = defaultdict(list)
        for index, name in zip(members.tolist(), self._symbols.names.some(members), strict=True):
            self._members[name].append(index)
        self._used = {name for table in (self._symbols, linked.dynamic_symbols) if table is not None
                      for name in table.names.some(np.flatnonzero(table.section == UNDEFINED))}
        self.ambiguous: list[bytes] = []
        self.of_others: list[bytes] = []
        self.doubtful: list[bytes] = []
        self.missing: list[bytes] = []

    def locate(self, mentions: Iterable[Mention]) -> list[Mention]:
        """The mentions of one process, with addresses in the file in place of addresses in memory;
        without addresses if these are not known."""
        mentions = list(mentions)
        votes: Counter[int] = Counter()
        for mention in mentions:
            members = self._members.get(mention.name, ())
            if mention.address is not None and len(members) == 1:
                distance = mention.address - int(self._symbols.value[members[0]])
                if distance % _PAGE < _PROLOGUE:
                    votes[distance - distance % _PAGE] += 1
        bases = [base for base, _ in votes.most_common(_PLACES)]
        return [mention._replace(address=self._in_file(mention, bases)) for mention in mentions]

    def _in_file(self, mention: Mention, bases: list[int]) -> int | None:
        """The function's address, if it is at one of the places and its name fits."""
        if mention.address is None:
            return None
        for base in bases:
            start, names = self._function_at(mention.address - base)
            if mention.name in names or any(_can_mean(mention.name, name) for name in names):
                return start
        return None

    def _function_at(self, address: int) -> tuple[int, list[bytes]]:
        """The start and the names of the function around an address."""
        group = (int(self._functions.innermost(np.array([address], np.uint64))[0])
                 if 0 <= address < 1 << 64 else -1)
        if group < 0:
            return 0, []
        [first], [count] = (each.tolist() for each in self._functions.sizes(np.array([group])))
        members = self._code[self._functions.order[first:first + count]]
        return int(self._functions.start[group]), self._symbols.names.some(members)

    def look_up(self, mentions: Iterable[Mention]) -> dict[Mention, list[Name]]:
        """The program's names of these mentions. Notes what became of the others."""
        found: dict[Mention, list[Name]] = {}
        unknown = []
        for mention in dict.fromkeys(mentions):
            name = self._exact(mention)
            if name is not None:
                found[mention] = [name]
            elif mention.is_doubtful:
                self.doubtful.append(mention.name)
            elif mention.name.partition(b"@")[0] in self._used or mention.name.endswith(b"@plt"):
                self.of_others.append(mention.name)
            else:
                unknown.append(mention)
        if unknown:
            found |= self._inexact(unknown)
        self.missing = [mention.name for mention in unknown if mention not in found]
        return found

    def _exact(self, mention: Mention) -> Name | None:
        if mention.address is not None:
            found = self._resolver.resolve(np.array([trace.FUNCTION], np.uint8),
                                           np.array([mention.address], np.uint64))
            return self._resolver.names(found.numbers)[0]
        for section_class, name in mention.readings or ((mention.section_class, mention.name),):
            candidates = [index for index in self._members.get(name, ())
                          if not section_class or (section_class == "text") == self._is_code[index]]
            if candidates:
                return self._name(name, candidates, os.path.basename(mention.file))
        return None

    def _inexact(self, unknown: list[Mention]) -> dict[Mention, list[Name]]:
        """The names that a link finds; none for symbols that it cannot place, such as absolute
        ones, or that a profile cannot name, such as thread-local variables."""
        asked: defaultdict[Name, list[Mention]] = defaultdict(list)
        for mention in unknown:
            if mention.section_class in ("", "text"):
                asked[Name("function", "text", mention.name, mention.file)].append(mention)
            if mention.section_class != "text":
                section_class = mention.section_class or "data"
                asked[Name("data", section_class, mention.name, mention.file)].append(mention)
        question = from_run(b"unknown", list(asked))
        with tempfile.NamedTemporaryFile(suffix=".startup") as file:
            file.write(profile.to_bytes(question))
            file.flush()
            resolved = names.resolve(file.name, [self._path])
        asking = list(asked.values())  # by entry
        found: dict[Mention, set[Name]] = {
            mention: set() for mentions in compress(asking, resolved.defined(len(asking)))
            for mention in mentions}
        for place in resolved.places:
            here = {self._entry(place.symbol, index)
                    for index in self._members.get(place.symbol, ())
                    if self._symbols.value[index] == place.value}
            for mention in asking[place.entry]:
                found[mention] |= here
        return {mention: sorted(each) for mention, each in found.items()}

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
