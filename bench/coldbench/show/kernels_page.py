"""The page of bench/kernels: what each kernel counted, and what was predicted.

The rows of the document are {"workload", "processor", "kernel", "release", "page_kib",
"file_system", "read_ahead_kib", "variant", FIGURES..., "predicted": {FIGURES...}}, one for each
variant.
"""

from coldbench.measure.machine import FILE_SYSTEMS
from coldbench.show.page import table_row

FIGURES = "major_faults", "read_bytes", "requests"
WITHIN = 0.1
_SLACK = {"major_faults": 2, "requests": 2}  # a tenth of few is less than one
VARIANTS = {"default": "lld", "order+relr": "order file, packed relocations", "front": "front",
            "front+prefetch": "front, prefetched", "front+align": "front, `--front-align=2M`",
            "front+run": "front, frontload-run", "default+list": "lld, prefetch list"}
_ASKING = "front+prefetch", "front+run", "default+list"
_PROGRAMS = {("cc1", "amd64"): "clang, 207 MB", ("cc1", "arm64"): "The same clang on AArch64"}
_TITLES = {"major_faults": "Major faults", "read_bytes": "MB read", "requests": "Requests"}


def key(row: dict) -> tuple:
    """The place of a row; no two have the same."""
    return (row["workload"], row["processor"], *map(int, row["kernel"].split(".")),
            row["page_kib"], FILE_SYSTEMS.index(row["file_system"]), row["read_ahead_kib"],
            list(VARIANTS).index(row["variant"]))


def is_judged(row: dict, figure: str) -> bool:
    """Requests of more than one window depend on the disk and on which pages of memory are
    neighbors; with a list, all depends on how fast the program runs beside the requests."""
    if figure == "requests":
        return row["read_ahead_kib"] <= 128 and row["variant"] not in _ASKING
    return row["variant"] != "default+list"


def agrees(row: dict, figure: str) -> bool:
    difference = abs(row["predicted"][figure] - row[figure])
    return difference <= max(WITHIN * row[figure], _SLACK.get(figure, 0))


def _name(row: dict) -> str:
    """The program, as a title."""
    key = row["workload"], row["processor"]
    return _PROGRAMS.get(key, ", ".join(key))


def summary(rows: list[dict]) -> str:
    judged = [(row, figure) for row in rows for figure in FIGURES if is_judged(row, figure)]
    wrong = [f"{_name(row)}, on {row['kernel']}, {row['page_kib']} KiB a page, "
             f"{row['file_system']}, {row['read_ahead_kib']} KiB, {row['variant']}: {figure}"
             for row, figure in judged if not agrees(row, figure)]
    return (f"{len(judged) - len(wrong)} of {len(judged)} figures are predicted within "
            f"{WITHIN:.0%}, or two faults or requests."
            + "".join(f"\n* Not {each}." for each in wrong))


def _cell(row: dict, figure: str) -> str:
    both = (f"{each / 1e6:.1f}" if figure == "read_bytes" else f"{each:.0f}"
            for each in (row[figure], row["predicted"][figure]))
    measured, predicted = both
    return f"{measured} ({predicted})" if is_judged(row, figure) else measured


def _table(rows: list[dict], figure: str) -> list[str]:
    places: dict[tuple, dict] = {}
    for row in rows:
        places.setdefault((row["kernel"], row["page_kib"], row["file_system"],
                           row["read_ahead_kib"]), {})[row["variant"]] = row
    lines = [f"### {_TITLES[figure]}", "",
             table_row(["kernel", "page, KiB", "file system", "readahead, KiB",
                        *VARIANTS.values()]),
             table_row(["---", "---:", "---", *["---:"] * (1 + len(VARIANTS))])]
    for place, variants in places.items():
        if is_judged(next(iter(variants.values())), figure):
            lines.append(table_row([*map(str, place),
                                    *(_cell(variants[name], figure) if name in variants else "—"
                                      for name in VARIANTS)]))
    return [*lines, ""]


_HEAD = """\
# Cold startups on other kernels

<!-- bench/kernels wrote this page -->
Each kernel reads ahead by its own rules, so the counts of the [README](../../README.md) hold for
Linux 6.18 alone. `bench/kernels` starts Debian's kernels in emulated machines (QEMU) with an x86-64
or an AArch64 processor. Only the program's file is cold there: all other files are in memory. Each
cell has a count and, in parentheses, what [`frontload predict`](../predict.md) computes for this
kernel, size of pages and file system. On x86-64 that is from one recording, of lld's layout. On
AArch64 each layout is recorded, as `frontload predict` pairs fewer references there.

Five layouts of one program were trained with the startup that was measured: by lld, by lld with an
order file and packed relative relocations, and three with a *front*, which holds what startup
touches at the beginning of the file. One of these prefetches its front, and one has its code at a
multiple of 2 MB. Two columns are starts by [`frontload-run`](../prefetch.md): of the front, and of
lld's layout with a prefetch list, which `frontload files --binary` made of the startup profile.
"""
_DIFFERENCES = """\
## Why kernels differ

* **Until Linux 6.6, more faults count as major.** A fault that begins to read ahead, or waits for a
  page on its way, is tried again, and each fault that is tried again counts. Since 6.7 only a fault
  whose page is missing counts (12214eba1992, "mm: handle read faults under the VMA lock", and
  46e714c729c8, "arch/mm/fault: fix major fault accounting when retrying under per-VMA lock"). The
  kernel reads the same.
* **Until Linux 6.16, code is read around the fault.** Since 6.17 it is read from the page of the
  fault on, to the end of the mapping at most ("mm/filemap: allow arch to request folio size for
  exec memory"). Code then lacks the mark at which the kernel reads the next window in the
  background. So newer kernels read less of a scattered program, and wait more often.
* **Since Linux 7.2, misses count differently.** After a hundred more misses than hits, the kernel
  reads single pages. Before, each page that was mapped around a fault was a hit. Now only the page
  of the fault is one ("mm/filemap: tighten mmap_miss hit accounting"), and code has no such limit
  ("mm: bypass mmap_miss heuristic for VM_EXEC readahead"). This startup has enough hits either way,
  but not with pages of 64 KiB (below).
* **Large folios** came to XFS with Linux 5.18, to EROFS with 6.2, to ext4 with 6.16 and to btrfs
  with 7.2. Since 6.17, a window ends where such a folio does ("mm/readahead: terminate async
  readahead on natural boundary"). Until 6.10, a window of folios that meets a page in memory has
  its whole size from there on, and thus ends later (7c877586da31, "readahead: properly shorten
  readahead when falling back to do_page_cache_ra()").
* **Until Linux 6.10, the kernel's read of the headers ends after four pages** also where they are a
  large folio, whose mark asks for the first window again (3a7a11a57e46, "readahead: disentangle
  async and sync readahead"). So the prefetched layout waits for `.dynamic` there. With 8 MiB of
  readahead, that reads 2.0 MB that are not in the front.
* **Btrfs** raises the readahead to 4 MiB by itself. The tables have it at the same values as the
  others.
* **AArch64** reads code in folios of 64 KiB, from the beginning of one on, since Linux 6.17
  (`exec_folio_order()` in arch/arm64/include/asm/pgtable.h). Where its pages are larger, 128 KiB of
  readahead are eight pages of 16 KiB or two of 64 KiB, and fault-around maps four pages or none.
  Debian has kernels with pages of 4 and 16 KiB. `--kernels bookworm:64k` builds one with 64 KiB
  from Debian's source, which has only ext4. Without fault-around (`should_fault_around()` in
  mm/memory.c), a fault that has read its page is no hit. So lld's layout soon has a hundred more
  misses than hits there, and the kernel reads single pages: 979 pages in 890 requests.

## Startups by frontload-run

`frontload-run` asks for a list in a process of its own, while the program runs. The emulated disk
needs ten seconds for the list, and the program two. So the program waits for pages that are not
asked for yet, and the kernel reads around these. On 6.12 with ext4, a start after the list was read
had no fault, and read nothing but the list, as predicted. The columns of the list are thus counts
only. The list reads gaps between its pages along, as for every hard disk.

On 6.12 with XFS or EROFS and 8 MiB of readahead, a start of the front by `frontload-run` reads 5.9
MB behind it, which is not predicted.

## Faults with a prefetched front

Started by `frontload-run`, the front has no fault on any of the kernels for x86-64: it is asked for
before the program is mapped. Where the program asks for it, there is none since Linux 6.7. The
clang once had one, because its `.dynamic` does not lie in the four pages that the kernel reads with
the headers. Where there is a prefetch, the name of the dynamic linker brings it now ([before the
prefetch](../layout.md#before-the-prefetch)). AArch64 has one, as segments there are aligned to 64
KiB. On 6.1, waits for pages on their way count as well: one or two.

The prefetch library must be the last of the libraries. Where it was the first one, the dynamic
linker relocated libz3 before the prefetch, and looked up libz3's symbols in the program's
`.dynsym`. That cost one fault more on each kernel of AArch64 with 128 KiB of readahead, and three
on 6.1 with pages of 4 KiB. With pages of 64 KiB and 8 MiB of readahead, it read 7.1 MB more.

Until Linux 6.6, x86-64 has two that wait for no read. The page of `.gnu.hash`, the fifth of the
file, is marked by the kernel's own read. The touch of this page reads on, and marks the thirteenth,
which has relocated data. At a marked page, `filemap_fault()` lets go of the address space and
returns VM_FAULT_RETRY. `mm_account_fault()` counts the second try (FAULT_FLAG_TRIED) as a major
fault. Since 12214eba1992, such a fault does not lock the address space, and its second try is a
minor one. In a startup with all files cold, further faults are those of the libraries.
"""


def render(result: dict) -> str:
    lines = [_HEAD]
    for name in dict.fromkeys(map(_name, result["rows"])):
        rows = [row for row in result["rows"] if _name(row) == name]
        lines += [f"## {name}", ""]
        for figure in FIGURES:
            lines += _table(rows, figure)
    releases = ", ".join(dict.fromkeys(row["release"] for row in result["rows"]))
    lines += [summary(result["rows"]), "",
              f"Debian's kernels are {releases}. Cold startups of each kind: {result['runs']}. "
              "Requests are compared for windows of 128 KiB and without a prefetch, because disk "
              "and memory cut larger ones. `kernels.json` beside this page has all figures.", ""]
    return "\n".join(lines) + "\n" + _DIFFERENCES
