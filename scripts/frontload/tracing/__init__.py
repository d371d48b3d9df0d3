"""Other people's tracers: perf found and tried out, the text of perf script and strace.

    perf.py          which of perf's events are permitted here, and what is missing
    perf_script.py   the text of perf script: how a sample or record begins, and what a frame is
    perf_records.py  what perf recorded of a start, as typed records
    strace.py        calls in strace's text
"""
