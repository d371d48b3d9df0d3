"""The relocations of a linked file as lines for people, and as JSON."""

from dataclasses import asdict

from frontload.base.errors import count
from frontload.elf.relocations import Report


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


def changes(report: Report | None) -> list[str]:
    """What other options of the linker would change, a line each."""
    def text(number: int, unit: str) -> str:
        return size_text(number) if unit == "bytes" else f"{number:,}"

    return [f"with {change.option}: {change.what}: {text(change.now, change.unit)} -> "
            f"{text(change.then, change.unit)}" for change in (report.changes if report else ())]


def as_json(report: Report | None) -> dict[str, object] | None:
    """Null for an unknown machine."""
    if report is None:
        return None
    return {"number": report.number, "bytes": report.bytes, "private_bytes": report.private_bytes,
            **asdict(report)}


def size_text(size: int) -> str:
    if size < 1000:
        return count(size, "byte")
    return f"{size / 1e3:.1f} kB" if size < 100_000 else f"{size / 1e6:.2f} MB"
