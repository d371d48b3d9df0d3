"""What the documents show of a result of bench/heldout: startups that were not trained."""

from collections.abc import Sequence

from coldbench.show import page

# As the tables call the programs.
PROGRAMS = {"cc1-heldout": "clang", "postgresql": "PostgreSQL", "cpython": "CPython", "git": "git",
            "wasm-tools": "wasm-tools"}
PLAIN, ITSELF = "no front", "itself"
TRAINED = ("0", "1", "2", "4", "8")


def readme_rows(workloads: Sequence[dict]) -> list[str]:
    """Rows of the table in README.md, of clang: without peak memory, which is not predicted."""
    rows = []
    for workload in (each for each in workloads if each["name"] == "cc1-heldout"):
        found, title = _by_row(workload), (
            f"the same, mean of {workload['starts']} startups that were **not trained**")
        for row, linked in ((PLAIN, "lld"), ("0", "**Frontload**, `--front=auto`"),
                            ("8", "**Frontload**, trained with 8 others")):
            figures = found[row]
            rows.append(page.table_row([
                title, linked, f"{figures['major_faults']:.0f}",
                f"{figures['read_bytes'] / 1e6:.1f}", "", f"{figures['seconds_hdd']:.2f}"]))
            title = ""
    return rows


def table(workloads: Sequence[dict]) -> str:
    """All programs, by how many other startups they were trained with."""
    lines = [page.table_row(["program", "startups", "no front", "none", "1", "2", "4",
                             "8", "itself", "area"]),
             page.table_row(["---", *["---:"] * 9])]
    found = {workload["name"]: workload for workload in workloads}
    for name in (name for name in PROGRAMS if name in found):
        rows = _by_row(found[name])
        lines.append(page.table_row([
            PROGRAMS[name], f"{found[name]['starts']}",
            *(f"{rows[row]['major_faults']:.0f}, {rows[row]['seconds_hdd']:.2f}"
              for row in (PLAIN, *TRAINED, ITSELF)), f"{found[name]['area']:.0f}"]))
    return "\n".join(lines) + "\n"


def _by_row(workload: dict) -> dict[str, dict]:
    return {row["trained_with"]: row for row in workload["rows"]}
