"""The kernel's page cache, file by file.

    kernel.py     how the kernel is asked
    cache.py      looks at files' pages, drops them and brings them in
    residency.py  which pages of a file are there, as a value
    mounts.py     where a file is kept, and who holds its pages
"""
