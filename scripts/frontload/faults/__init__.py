"""Faults, one by one: what a start asked of the kernel's memory and page cache, in order.

    loading.py      where the kernel and the loader will put a program, known before it runs
    recording.py    runs a command below perf
    space.py        which file and offset an address of a process stands for
    history.py      puts the records of a process tree in order: images, faults, fills, requests
    phases.py       the phases of each process's start
    files.py        facts about each file; names for inodes
    document.py     all of it as JSON, "frontload-faults/1"
    table.py        the same for people

The package tracing runs perf and reads its records.

fault   the kernel was asked for a page that a process had not mapped; major if it had to wait for
        it, minor if not
fill    pages that a process's read or fault put into the page cache, readahead included
request what the kernel asked of a block device
image   what a process runs from one exec to the next
phase   of a start: exec, loader, relocation, constructors, main, started
"""
