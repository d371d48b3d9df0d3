"""The cold-start bench: variants of a real program, measured side by side.

    variants ─▶ measure ─▶ judge ─▶ show

variants  workloads, their variants, the rows of the race, and the folder that all are built in
measure   starts, requests, links, recordings: what is measured, and how
judge     figures of what was measured, and verdicts on them
show      the JSON made of both, and the tables and pictures made of the JSON

Each room uses those before it. Above them are the programs of bench/ (run, race, table, readahead,
picture, overhead, hooks, source_package), which use all rooms and never each other, and what they
share.
"""
