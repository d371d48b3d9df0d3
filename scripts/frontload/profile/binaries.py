"""The binaries that traces were recorded from, to resolve each trace with its own."""

from dataclasses import dataclass

from frontload.base import errors
from frontload.base.errors import BadData
from frontload.elf import file as elf
from frontload.profile import instrumented
from frontload.profile.addresses import Resolver
from frontload.profile.link_map import LinkMap
from frontload.profile.trace import Module


@dataclass(frozen=True)
class Binary:
    linked: elf.Elf
    resolver: Resolver
    collects: bool  # a profile of the compiler's, too


class Binaries:
    """Each is read once. All are `given` if that is a path, else where they were recorded.

    link_map: the map of the link, for the names of data; to be set before the first is asked for
    """

    def __init__(self, given: str | None):
        self._given = given
        self._read: dict[str, Binary] = {}
        self.link_map: str | None = None

    def of(self, module: Module, trace: str) -> Binary:
        """The binary that a trace recorded as `module`; another build is refused."""
        path = self._given or module.path
        binary = self._read.get(path)
        if binary is None:
            linked = elf.read(path, note="give the recorded program with --binary PATH")
            symbols = linked.linked_symbols("give the copy from before strip with --binary PATH")
            binary = self._read[path] = Binary(
                linked, Resolver(linked), instrumented.is_instrumented(symbols))
            if not linked.build_id and not module.build_id:
                errors.warning(f"{path}: has no build-id, so nothing tells whether it is the "
                               "binary that was recorded")
        if binary.linked.build_id != module.build_id:
            found, recorded = (each.hex() or "none"
                               for each in (binary.linked.build_id, module.build_id))
            raise BadData(path, f"its build-id is {found}, but {trace} recorded {recorded}",
                          note="remove the traces of the old build (rm -r its folder) and record "
                               "again, or give the recorded program with --binary PATH")
        if self.link_map is not None and binary.resolver.link_map is None:
            binary.resolver.use_map(LinkMap(self.link_map, binary.linked))
        return binary
