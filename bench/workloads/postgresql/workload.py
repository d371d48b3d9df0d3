"""PostgreSQL, a server: its work is to start, as another user, and to answer a first query.

Only the program is cold: the database and the files of the installation are on the file system that
the bench runs from. That user has to reach the work folder.
"""

from coldbench.variants.workload import Workload
from frontload.base.ready import Ready

PROCESSES = "each of its processes would write a profile of its own"

WORKLOAD = Workload(
    name="postgresql",
    title="PostgreSQL 15.18 (C): the server starts, and answers `select 1`",
    variants=("default", "order", "order+relr", "front", "front+prefetch"),
    peers=("bp-startup", "preread", "willneed", "front+run"),
    absent={name: PROCESSES for name in (
        "temporal", "gcc-pgo", "gcc-pgo-lto", "gcc-pgo+front", "clang-pgo", "clang-pgo+front",
        "bolt", "front+blocks+prefetch")},
    recorders={"bp-startup": ("breakpoints",)},
    before=("setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"),
    arguments=("-D", "{work}/data", "-p", "5498", "-k", ""),
    ready=Ready(output="ready to accept connections",
                request="{work}/home/bin/psql -h 127.0.0.1 -p 5498 -U postgres -c 'select 1' "
                        "-o {output}"),
    environment={"LC_ALL": "C.UTF-8"},
)
