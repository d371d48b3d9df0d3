"""One recorded start, whole: runs beforehand, the page cache, the run itself, its document.

A start is recorded as it is, from warm files, or (the most telling) selectively cold: the named
files are evicted and verified to be gone, while the rest of the system stays warm.
"""

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass

from frontload import pagecache
from frontload.errors import Failure
from frontload.faults import document, perf
from frontload.faults.recording import Session
from frontload.measure_run import Launcher, Sample

SELECTIVELY_COLD, WARM, AS_IT_IS = "selectively cold", "warm", "as it is"


@dataclass(frozen=True)
class Start:
    document: dict  # frontload-faults/1
    sample: Sample


def record(command: Sequence[str], name: str | None = None, *, condition: str = SELECTIVELY_COLD,
           evict: Sequence[str] = (), allow_warm: bool = False, until: str | None = None,
           warmup: int = 1) -> Start:
    """Records one start of a command; `evict` names the files that are to be cold (or warm), in
    which {} is the program, as it is alone by default. With `allow_warm` pages of theirs may
    stay."""
    program = shutil.which(command[0])
    if program is None:
        raise Failure(f"{command[0]}: is not a program that can be run")
    session = Session(command, until, perf.find())
    if condition != AS_IT_IS:
        for _ in range(warmup):
            Launcher().run(command)
    before = {}
    for file in [file.replace("{}", program) for file in evict or ["{}"]]:
        if condition == SELECTIVELY_COLD:
            (pagecache.drop if allow_warm else pagecache.make_cold)(file)
        elif condition == WARM:
            pagecache.make_warm(file)
        if pagecache.may_look(file):
            before[file] = pagecache.residency(file)
    recording = session.run()
    return Start(document.make(recording, command, name or os.path.basename(command[0]), condition,
                               before), recording.sample)
