"""What bench/race shows of a workload when it has been measured."""

from frontload import console

from coldbench.race import columns, rows


def show(workload: dict) -> None:
    print(f"{workload['title']}:")
    table = console.table("row", *(column.heading.replace(" ", "\n") for column in columns.COLUMNS),
                          numbers=range(1, len(columns.COLUMNS) + 1))
    variants = {variant["name"]: variant for variant in workload["variants"]}
    why = {absent["name"]: absent["why"] for absent in workload["absent"]}
    for row in rows.ROWS:
        if row.name in variants:
            console.add_row(table, row.name,
                            *(column.cell(variants[row.name]) for column in columns.COLUMNS))
        elif row.name in why:
            console.add_row(table, row.name, *[columns.ABSENT] * len(columns.COLUMNS))
    console.add_row(table, "touched (limit)", *columns.limit(workload))
    console.show(table)
    for name, reason in why.items():
        print(f"{name}: {reason}")
    for warning in workload["warnings"]:
        print(f"warning: {warning}")
    for missing in workload["missing"]:
        print(f"missing: {missing}")
    if not workload["outputs_are_identical"]:
        print("FAIL: the program's output is not identical in all variants")
    sentence, rest = columns.verdicts(workload)
    print(sentence)
    for line in rest:
        print(f"  {line}")
    print()
