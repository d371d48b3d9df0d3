"""One recorded start, whole: runs beforehand, the page cache, the run itself, its document.

A start is recorded cold, with warm files, or (most telling) selectively cold: the named files are
evicted and verified to be gone, while the rest of the system stays warm. These are the conditions
of frontload measure, set up in the same way; or the page cache is left as it is.
"""

import os
import shutil
from collections.abc import Sequence
from contextlib import ExitStack

from frontload.base.errors import HOW_TO_RUN, BadData, Diagnostics, Failure
from frontload.base.missing import Missing
from frontload.base.ready import Ready
from frontload.device.kinds import Device
from frontload.faults import document, recording
from frontload.faults import loading as loadings
from frontload.faults.document import Document
from frontload.faults.loading import Loading
from frontload.measure import seen as measure_seen
from frontload.measure.conditions import AS_IT_IS, COLD, SELECTIVELY_COLD, Conditions
from frontload.measure.launcher import Launcher, Sample
from frontload.measure.on_device import on_device
from frontload.measure.plan import Variant
from frontload.pagecache import cache as pagecache
from frontload.tracing import perf


def record(command: Sequence[str], name: str | None = None, *, condition: str = SELECTIVELY_COLD,
           evict: Sequence[str] = (), evict_seen: bool = False, allow_warm: bool = False,
           until: str | None = None, warmup: int = 1, ready: Ready | None = None,
           device: Device | None = None, extra: Sequence[str] = (),
           diagnostics: Diagnostics | None = None) -> tuple[Document, Sample]:
    """Records one start of a command: its document, frontload-faults/1, and its totals. `evict`
    names the files to make cold (or warm), with {} for the program, which is the default;
    `evict_seen` adds the files that the command is seen to read. With `allow_warm` some of their
    pages may stay. The event `ready` ends the start. On a `device` are these files and `extra`
    ones."""
    program = shutil.which(command[0])
    if program is None:
        raise Failure(f"{command[0]}: is not a program that can be run", note=HOW_TO_RUN)
    named = list(dict.fromkeys(file.replace("{}", program) for file in evict or ["{}"]))
    missing: list[Missing] = []
    with ExitStack() as stack:
        launcher, own_device = stack.enter_context(
            on_device(device, [Variant("", tuple(command), tuple(named))], extra, ready))
        conditions = Conditions(pagecache, diagnostics, allow_warm=allow_warm,
                                evict_seen=evict_seen)
        conditions.check(named, () if condition == AS_IT_IS else (condition,))
        recorder = perf.find()
        lacking = list(recorder.missing)
        loading = _loading(command, until, lacking) if recorder.breakpoints else None
        if condition == AS_IT_IS:
            before = {file: pagecache.residency(file) if pagecache.may_look(file) else None
                      for file in named}
        else:
            seen = (_seen(command, named, launcher, missing)
                    if evict_seen or condition == COLD else ())
            for _ in range(warmup):
                launcher.run(command)
            before = conditions.bring_about(condition, named, seen)
        if condition in (COLD, SELECTIVELY_COLD):
            for file in named:
                left = before[file]
                if left is None or left.resident_pages:
                    pages = "perhaps" if left is None else left.resident_pages
                    missing.append(Missing("a cold start", f"{pages} pages of {file} stayed in the "
                                           "page cache", "end the processes that use it"))
        known = {file: residency for file, residency in before.items() if residency is not None}
        found = recording.run(command, recorder, loading, launcher, list(known))
        made = document.make(found, command, name or os.path.basename(command[0]), condition,
                             known, missing + lacking, own_device)
    return made, found.sample


def _loading(command: Sequence[str], until: str | None, missing: list[Missing]) -> Loading | None:
    """Where the command will be loaded."""
    try:
        return loadings.find(command, until)
    except BadData as problem:
        why, remedy = problem.message, ""
    except OSError as problem:
        why = f"{problem.filename}: {problem.strerror}"
        remedy = ("allow ptrace and personality; in a container: --cap-add=SYS_PTRACE, and a "
                  "seccomp profile that lets personality switch address randomization off")
    missing.append(Missing("phases after exec", why, remedy))
    return None


def _seen(command: Sequence[str], named: Sequence[str], launcher: Launcher,
          missing: list[Missing]) -> tuple[str, ...]:
    try:
        return measure_seen.find(command, named, launcher).files
    except Failure as problem:
        missing.append(Missing("what of the files that it reads stayed in the page cache",
                               problem.message, problem.note or measure_seen.REMEDY))
        return ()
