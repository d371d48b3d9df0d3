"""The rows of the race: every way to make a program start faster that we compare, ours last.

A row is a variant that each workload has, or says why it lacks it. It is called like the variant,
so workloads/WORKLOAD/variants.ninja builds WORKLOAD.ROW.

recorder  how the start behind the row was recorded: see recordings.py
"""

from dataclasses import dataclass

from frontload.base.errors import Failure

from coldbench.variants.workload import OPENED, Workload

BASE = "default"


@dataclass(frozen=True)
class Row:
    name: str
    title: str  # in Markdown
    short: str = ""  # its name within a sentence or a cell
    ours: bool = False
    recorders: tuple[str, ...] = ()
    # Links whose times add up to the row's own, before it.
    links: tuple[str, ...] = ()

    @property
    def links_itself(self) -> bool:
        """Whether the row is a file of its own."""
        return self.name not in OPENED


ROWS = (
    Row(BASE, "lld"),
    Row("temporal", "lld, order of an LLVM temporal profile", "LLVM temporal profile",
        recorders=("temporal",)),
    Row("bp-startup", "lld `--bp-startup-sort=function`", "balanced partitioning",
        recorders=("temporal",)),
    Row("gcc-pgo", "gcc PGO, `-freorder-blocks-and-partition -fprofile-reorder-functions`",
        "gcc PGO", recorders=("gcc-pgo",)),
    Row("gcc-pgo-lto", "the same with `-flto`", "gcc PGO with LTO", recorders=("gcc-pgo",)),
    Row("clang-pgo", "clang PGO, `-fsplit-machine-functions`", "clang PGO",
        recorders=("clang-pgo",)),
    Row("bolt", "BOLT, user order, split functions", "BOLT", recorders=("breakpoints", "bolt"),
        links=("bolt-input",)),
    Row("order", "lld, order file of exact first calls", "order file", recorders=("breakpoints",)),
    Row("preread", "lld, the whole file read first", "whole file read first"),
    Row("willneed", "lld, the whole file by `MADV_WILLNEED`", "whole file by `MADV_WILLNEED`"),
    Row("order+relr", "lld, order file and packed relative relocations",
        "order file, packed relocations", recorders=("breakpoints",)),
    Row("gcc-pgo+front", "gcc PGO and **ld.frontload**, one run for both", "gcc PGO and front",
        ours=True, recorders=("gcc-pgo+breakpoints",)),
    Row("clang-pgo+front", "clang PGO and **ld.frontload**, one run for both",
        "clang PGO and front", ours=True, recorders=("clang-pgo+breakpoints",)),
    Row("front", "**ld.frontload**", "**front**", ours=True, recorders=("breakpoints", "data")),
    Row("front+prefetch", "**ld.frontload `--front-prefetch`**", "**front, prefetched**",
        ours=True, recorders=("breakpoints", "data")),
    Row("front+blocks+prefetch", "**ld.frontload `--front-prefetch`**, basic blocks",
        "**basic blocks, prefetched**", ours=True, recorders=("breakpoints", "data")),
    Row("front+run", "**ld.frontload**, run by **frontload-run**", "**front, frontload-run**",
        ours=True, recorders=("breakpoints", "data")),
)
BY_NAME = {row.name: row for row in ROWS}


def of(workload: Workload, others: bool = False) -> list[Row]:
    """The rows that a workload has, in order; with its `others`, which are all of a workload
    without peers. Refuses one that silently leaves a row out."""
    present = {*workload.variants, *workload.peers}
    more = [Row(name, name, ours=True) for name in workload.variants if name not in BY_NAME]
    if not workload.peers:
        return [BY_NAME[name] for name in workload.variants if name in BY_NAME] + more
    for row in ROWS:
        if (row.name in present) == (row.name in workload.absent):
            raise Failure(f"{workload.name}: the race's row {row.name} is "
                          + ("both there and absent" if row.name in present else "not explained"),
                          note="workload.py has it in `variants`, `peers` or `absent`")
    return [row for row in ROWS if row.name in present] + (more if others else [])


def recorders(workload: Workload, row: Row) -> tuple[str, ...]:
    return workload.recorders.get(row.name, row.recorders)
