"""Starts, measured and predicted.

    conditions.py   cold, selectively cold, warm: brought about, and proved
    plan.py         which variants are started, from which conditions, in which order
    launcher.py     one start of a command, and what it cost
    seen.py         which files a command is seen to read
    on_device.py    the same on a device of its own
    rounds.py       makes the runs of a plan
    measurement.py  what they have found
    sections.py     which part of a file each of its sections takes
    statistics.py   means, ratios and differences with their intervals
    results.py      the figures of a measurement
    doubts.py       what a reader must know before trusting them
    document.py     all of it as JSON, "frontload-measure/2"
    table.py        the same for people
    prediction.py   what a cold start will read, by frontload-predict
"""
