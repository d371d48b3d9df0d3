"""The cold-start bench: variants of a real program, measured side by side.

    variants ─▶ measure ─▶ judge ─▶ show

variants  workloads, their variants, the rows of the race, and the folder of all builds
measure   starts, requests, links, recordings, other kernels: what is measured, and how
judge     the figures of measurements, and verdicts on them
show      the JSON of both, and tables and pictures of the JSON

Each package uses those before it. The programs of bench/ (race, table, picture, start,
heldout, kernels, source_package) use all packages and their common modules, but never each other.
"""
