"""The binaries that traces were recorded from, to resolve each trace with its own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from frontload.base.arrays import np
from frontload.base.errors import BadData, Diagnostics, Failure
from frontload.elf import file as elf
from frontload.elf.loading import read_loading
from frontload.elf.relocations import copies
from frontload.profile import block_counts, instrumented
from frontload.profile.addresses import Resolver
from frontload.profile.block_counts import TouchedFunction
from frontload.profile.link_map import LinkMap
from frontload.profile.touched import TouchedNumbers
from frontload.profile.trace import BLOCK, CODE, FUNCTION, Module, Trace


@dataclass(frozen=True, eq=False)
class Binary:
    path: str
    linked: elf.Elf
    resolver: Resolver
    collects: bool  # also a compiler's profile
    judged: dict[int, bool] = field(default_factory=dict)  # by number, whether a name is left out

    def resolve(self, trace: Trace, mine: np.ndarray) -> tuple[TouchedNumbers, np.ndarray]:
        """A trace's touches of this binary, by its events `mine`, and the numbers that are left out
        because only this build has them."""
        touched = self.resolver.resolve(trace.kinds[mine], trace.addresses[mine])
        if not self.collects:
            return touched, touched.numbers[:0]
        left_out = self._is_left_out(touched.numbers)
        return touched.only(~left_out), touched.numbers[left_out]

    def blocks(self, trace: Trace, module: Module) -> list[TouchedFunction]:
        """The basic blocks that a trace touched; none if the trace or the binary has no blocks."""
        mapped = block_counts.file_with_map(self.linked)
        if self.collects or not trace.tells_parts or mapped is None:
            return []
        mine = trace.owners == trace.modules.index(module)
        are_starts = bool((trace.kinds[mine] == BLOCK).any())
        # A function's event is that of its first block.
        told = np.isin(trace.kinds, (BLOCK, FUNCTION) if are_starts else (CODE,)) & mine
        if not told.any():
            return []
        return list(block_counts.find_touched(mapped, trace.addresses[told],
                                              are_starts=are_starts))

    def _is_left_out(self, numbers: np.ndarray) -> np.ndarray:
        new = [number for number in numbers.tolist() if number not in self.judged]
        self.judged.update(zip(new, map(instrumented.is_left_out, self.resolver.names(new)),
                               strict=True))
        return np.array([self.judged[number] for number in numbers.tolist()], bool)


class Binaries:
    """Opens each binary once, at its recorded path unless one is `given`; of several, the build-id
    chooses.

    link_map: the map of the link, for the names of data; to be set before the first use
    """

    def __init__(self, given: str | Sequence[str] | None, diagnostics: Diagnostics):
        self._diagnostics = diagnostics
        self._given = [given] if isinstance(given, str) else list(given or ())
        self._results: dict[object, Binary | Failure] = {}
        self.link_map: str | None = None

    def of(self, module: Module, trace: str) -> Binary:
        """The binary that a trace recorded as `module`; another build is refused."""
        path = self._path_of(module)
        binary = self._once(path, partial(self._open, path, module))
        if binary.linked.build_id != module.build_id:
            found, recorded = (each.hex() or "none"
                               for each in (binary.linked.build_id, module.build_id))
            raise BadData(path, f"its build-id is {found}, but {trace} recorded {recorded}",
                          note="remove the traces of the old build (rm -r its folder) and record "
                               "again, or give the recorded program with --binary PATH")
        # After the check of the build-id, which explains another build better than a map does.
        if self.link_map is not None and binary.resolver.link_map is None:
            self._once((path, self.link_map), partial(self._use_map, binary, self.link_map))
        return binary

    def _path_of(self, module: Module) -> str:
        if len(self._given) < 2:
            return self._given[0] if self._given else module.path
        return next((path for path in self._given
                     if self._once(path, partial(self._open, path, module))
                     .linked.build_id == module.build_id), self._given[0])

    def at(self, key: object) -> Binary:
        """A binary that `of` has returned."""
        found = self._results[key]
        if isinstance(found, Failure):
            raise found
        return found

    def _once(self, key: object, work: Callable[[], Binary]) -> Binary:
        """The result of `work`, or the same failure each time."""
        if key not in self._results:
            try:
                self._results[key] = work()
            except Failure as problem:
                self._results[key] = problem
        return self.at(key)

    def _read(self, path: str, module: Module) -> elf.Elf:
        """The program at `path`; where that is stripped, or only a debug file, with what it lacks
        from the other given files or the recorded one."""
        read = elf.read(path, note="give the recorded program with --binary PATH")
        if not read.build_id or not (read.is_debug_file or read.symbols is None):
            return read
        for other in (*self._given, module.path):
            try:
                partner = elf.read(other)
            except Failure:
                continue
            if partner.build_id == read.build_id and partner.is_debug_file != read.is_debug_file:
                program, debug = (partner, read) if read.is_debug_file else (read, partner)
                return program if program.symbols else elf.joined(program, debug)
        return read

    @staticmethod
    def _use_map(binary: Binary, path: str) -> Binary:
        binary.resolver.use_map(LinkMap(path, binary.linked))
        return binary

    def _open(self, path: str, module: Module) -> Binary:
        linked = self._read(path, module)
        if not linked.build_id and not module.build_id:
            self._diagnostics.warning(f"{path}: has no build-id, so nothing tells whether it is "
                                      "the binary that was recorded")
        symbols = linked.linked_symbols("give the copy from before strip with --binary PATH")
        resolver = Resolver(linked, copies(read_loading(linked.path)))
        return Binary(path, linked, resolver, instrumented.is_instrumented(linked, symbols))
