"""The page of bench/distribution: a row for each package, as judge/distribution.py makes them, with
the notes of the list."""

from coldbench.judge.distribution import AGAIN, BUILDS, FRONT, GNU, LLD
from coldbench.show.page import table_row

_HEAD = """\
# A distribution, rebuilt

<!-- bench/distribution wrote this page -->
`bench/distribution` builds packages of Debian 12 as they are, each in a clean system without a
network, with its own rules and test suite: with GNU ld, with lld, and with a *front*, the beginning
of a file that holds what startup touches. Here it holds a random half of the symbols of each link,
in random order, whatever they cost (`--front-always`), and is prefetched. All go through
[`frontload-cc`](../how-to/wrapper.md), so the builds by lld and with fronts differ in nothing but
the front.
"""
_LEGEND = """\
* **tests**: passed, and failed if any, by GNU ld, lld, and with fronts. One number stands for all
  three. `lines` are counted by words such as `ok`, where the runner of the tests is not known.
* **fronts**: links that made a file with a front. Of the others, those that try something out for
  `configure` are not counted.
* **size**: of the installed programs and libraries, relative to lld and to GNU ld.
* **time, memory**: of links with a front, relative to lld. Time is the processor's, the mean of
  ratios of the same links with a 95% interval. Memory is the peak of the largest link.
* **differs**: findings of `lintian`, `hardening-check`, `dwz` and `dpkg-shlibdeps`, symbols files,
  missing debug files and lists of files that only the build with fronts has, except its need of
  `libfrontload-prefetch1`. In parentheses: how lld's build differs from GNU ld's.
* **again**: files that differ when it is built again with the same fronts.

Two differences are lld's. It defines no symbols for versions (`XZ_5.2@XZ_5.2`). A symbols file that
lists them needs `DPKG_GENSYMBOLS_CHECK_LEVEL=0`, as all builds here have it. And `hardening-check`
takes lld's libraries for position-independent programs, because they have a `PHDR` segment.
"""


def is_right(row: dict) -> bool:
    """Whether a package has fronts, and is built and tested as without Frontload."""
    status = row["status"]
    return row["links"]["fronts"] > 0 and not row["newly_failed"] and not row["refused"] and (
        status[FRONT] in (0, status[GNU]) and
        row["tests"][FRONT]["passed"] == max(row["tests"][name]["passed"] for name in (GNU, LLD)))


def summary(rows: list[dict]) -> str:
    wrong = [row["package"] for row in rows if not is_right(row)]
    tests = sum(row["tests"][FRONT]["passed"] for row in rows)
    tested = sum(row["tests"][FRONT]["passed"] > 0 for row in rows)
    fronts = sum(row["links"]["fronts"] for row in rows)
    failed = sum(len(row["newly_failed"]) for row in rows)
    return (f"{len(rows) - len(wrong)} of {len(rows)} packages build with random fronts in "
            f"{fronts:,} links. {tested} of them have tests that are counted: {tests:,} pass, "
            f"{failed} newly fail."
            + "".join(f"\n* Not {name}." for name in wrong))


def _tests(row: dict) -> str:
    cells = []
    for name in BUILDS:
        counts = row["tests"][name]
        failed = f", {counts['failed']} failed" if counts["failed"] else ""
        end = {0: "", -1: " (time-out)"}.get(row["status"][name], " (stopped)")
        cells.append(f"{counts['passed']:,}{failed}{end}")
    return (cells[0] if len(set(cells)) == 1 else " / ".join(cells)) + (
        " lines" if row["runners"] == ["lines"] else "")


def _ratio(value: float, base: float) -> str:
    return f"{value / base:.3f}" if value and base else "—"


def _row(row: dict, entry: dict) -> str:
    size, cost = row["size"], row["cost"] or {}
    time = cost.get("time", [None])
    interval = f" ({time[1]:.2f} to {time[2]:.2f})" if len(time) == 3 and time[1] else ""
    unlike = row["unlike"]
    links = {"refused": len(row["refused"]), "by GNU ld": row["links"].get("gnu", 0)}
    others = "".join(f", {number} {what}" for what, number in links.items() if number)
    return table_row([
        row["package"], row["version"], entry["why"], _tests(row),
        f"{len(row['newly_failed'])}", f"{row['links']['fronts']}{others}",
        f"{_ratio(size[FRONT], size[LLD])}, {_ratio(size[FRONT], size[GNU])}",
        f"{time[0]:.2f}{interval}" if cost else "—", f"{cost['memory']:.2f}" if cost else "—",
        f"{len(row['differences'])} ({len(row['of_lld'])})",
        "—" if unlike is None else f"{len(unlike)}"])


def render(document: dict, entries: dict[str, dict]) -> str:
    rows = document["rows"]
    titles = ["package", "version", "what", "tests", "newly failed", "fronts", "size", "link time",
              "memory", "differs", AGAIN]
    lines = [_HEAD, summary(rows), "", _LEGEND, table_row(titles),
             table_row(["---"] * 4 + ["---:"] * (len(titles) - 4)),
             *(_row(row, entries[row["package"]]) for row in rows), ""]
    notes = [f"* **{row['package']}**: {entries[row['package']]['note']}" for row in rows
             if "note" in entries[row["package"]]]
    left_out = [f"* **{name}**: {entry['left_out']}" for name, entry in sorted(entries.items())
                if "left_out" in entry]
    later = sorted(name for name, entry in entries.items()
                   if "left_out" not in entry and name not in {row["package"] for row in rows})
    for title, each in (("Differences, explained", notes), ("Left out", left_out),
                        ("Not built yet", [", ".join(later)] * bool(later))):
        if each:
            lines += [f"## {title}", "", *each, ""]
    return "\n".join(lines)
