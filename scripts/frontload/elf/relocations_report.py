"""The relocations of a linked file as text for people, and as JSON."""

from dataclasses import asdict

from frontload.base import console
from frontload.base.errors import count
from frontload.elf.relocations import PAGE, Change, Report


def summary(report: Report | None) -> str:
    """One line."""
    if report is None:
        return "relocations: of an unknown machine"
    if not report.number:
        return "relocations: none"
    kinds = ", ".join(f"{kind.number:,} {name}" for name, kind in report.kinds.items())
    return (f"relocations: {kinds}; {size_text(report.bytes)} of the file, "
            f"{report.pages:,} {'page' if report.pages == 1 else 'pages'} written at the start "
            f"({size_text(report.private_bytes)})")


def show(report: Report) -> None:
    """All counts, as tables."""
    table = console.table("relocations", "number", "bytes", numbers=(1, 2))
    for name, kind in report.kinds.items():
        console.add_row(table, name, f"{kind.number:,}", f"{kind.bytes:,}")
    console.show(table)
    print(f"symbols looked up: {report.lookups:,} at the start, "
          f"{report.lazy_lookups:,} at a first call")
    if report.binding:
        print(f"binding of jump slots: {report.binding}")
    if report.hash_styles:
        without = "" if "gnu" in report.hash_styles else (
            "; with --hash-style=gnu most lookups of symbols that it lacks end without a "
            "comparison")
        print(f"hash tables: {', '.join(report.hash_styles)}{without}")
    for section, number in report.constructors.items():
        if number:
            print(f"{section}: {count(number, 'constructor')}")
    if report.changes:
        table = console.table("would change with", "what", "now", "then", numbers=(2, 3))
        for change in report.changes:
            console.add_row(table, change.option, change.what, *_now_and_then(change))
        console.show(table)


def as_json(report: Report | None) -> dict[str, object] | None:
    """Null for an unknown machine."""
    if report is None:
        return None
    return {"number": report.number, "bytes": report.bytes, "private_bytes": report.private_bytes,
            **asdict(report)}


def size_text(size: int, largest: int = 0) -> str:
    """`size` in a unit that also fits `largest`."""
    largest = max(size, largest)
    if largest < 1000:
        return count(size, "byte")
    return f"{size / 1e3:.1f} kB" if largest < 100_000 else f"{size / 1e6:.2f} MB"


def _now_and_then(change: Change) -> list[str]:
    texts = []
    for number in (change.now, change.then):
        size = size_text(number * PAGE, change.now * PAGE)
        texts.append({"bytes": size_text(number, change.now),
                      "pages": f"{number:,} ({size})"}.get(change.unit, f"{number:,}"))
    return texts
