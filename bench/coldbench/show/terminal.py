"""What bench/race shows of a workload when it has been measured."""

import re

from frontload.base import console

from coldbench.show import columns
from coldbench.variants import rows


def show(workload: dict) -> None:
    print(f"{workload['title']}:")
    variants = {variant["name"]: variant for variant in workload["variants"]}
    why = {absent["name"]: absent["why"] for absent in workload["absent"]}
    # Intervals and remarks are for the page, which is as wide as it needs to be.
    lines = [(row.name, [re.sub(r" [±(].*", "", column.cell(variants[row.name]))
                         for column in columns.COLUMNS])
             for row in rows.ROWS if row.name in variants]
    # What was not asked for takes no room.
    shown = [number for number in range(len(columns.COLUMNS))
             if any(cells[number] != columns.ABSENT for _, cells in lines)]
    headings = (columns.COLUMNS[number].heading.replace(" ", "\n") for number in shown)
    table = console.table("row", *headings, numbers=range(1, len(shown) + 1))
    table.columns[0].no_wrap = True
    for name, cells in [*lines, ("limit", columns.limit(workload))]:
        console.add_row(table, name, *(cells[number] for number in shown))
    console.show(table)
    for name, reason in why.items():
        print(f"{name}: {reason}")
    for warning in workload["warnings"]:
        print(f"warning: {warning}")
    for missing in workload["missing"]:
        print(f"missing: {missing}")
    if not workload["outputs_are_identical"]:
        print("FAIL: the program's output is not identical in all variants")
    for line in columns.predictions(workload):
        print(line)
    sentence, rest = columns.verdicts(workload)
    print(sentence)
    for line in rest:
        print(f"  {line}")
    print()
