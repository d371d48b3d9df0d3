"""Starts, measured and predicted.

    conditions.py   cold, selectively cold, warm: set up, and verified
    plan.py         which variants are started, from which conditions, in which order
    launcher.py     one start of a command, and its cost
    seen.py         which files a command is seen to read
    on_device.py    the same on a separate device
    rounds.py       makes the runs of a plan
    measurement.py  their results
    statistics.py   means, ratios and differences with their intervals
    results.py      the figures of a measurement
    doubts.py       warnings for readers of the figures
    document.py     all of it as JSON, "frontload-measure/2"
    table.py        the same for people
    prediction.py   what a cold start will read, by frontload-predict
"""
