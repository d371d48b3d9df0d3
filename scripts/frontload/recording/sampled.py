"""Records one run of a command by samples: which pages it has touched when its start is over.

Nothing follows the command, and nothing is planted in it: libfrontload-sample, which is preloaded,
writes a sample when the program says that it is ready, or exits. Of a command that is waited for
(--until-...) we look at the page tables when it is ready.
"""

import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from frontload.base import errors, processes, tools
from frontload.base.errors import EXIT_VERDICT, Failure
from frontload.base.exec_line import ExecLine
from frontload.base.ready import Ready
from frontload.base.scratch import scratch_folder
from frontload.profile import sample
from frontload.profile.sample import PageSample
from frontload.recording import live_pages, page_order
from frontload.tracing import perf

_LIBRARY = "libfrontload-sample.so"
_WHY_NONE = ("a program that ends by a signal or by _exit() writes none: say when its start is "
             "over, by --until-... or --for; a static program has to be linked with "
             "libfrontload-sample.a and -Wl,-u,frontload_ready")


def run(words: Sequence[str], output: Path | str, *, role: str | None = None,
        ready: Ready | None = None, ordered: bool = False, slices: int = 1) -> int:
    """Returns the exit status of the command; 0 if it was ended because it was ready. Of `slices`
    of each file, one is told of."""
    part = (secrets.randbelow(slices), slices) if slices > 1 else None
    folder = Path(output)
    is_new_folder = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise Failure(f"{folder}: no permission to write there",
                      note="choose another folder with -o")
    at_ready: set[Path] | None = None
    problem: Exception | None = None
    with ExitStack() as stack:
        if is_new_folder:
            stack.callback(_remove_if_empty, folder)
        # What ends later tells of more than the start: it is left behind, and nothing of others.
        place = stack.enter_context(_folder_within(folder)) if ready else folder
        earlier = set(sample.find(place))
        before: list[str] = []
        data = None
        if ordered:
            data = Path(stack.enter_context(scratch_folder("frontload-faults."))) / "faults.data"
            before = _below_perf(data)
        line = stack.enter_context(ExecLine(ready)) if ready else None
        if line:
            before = [*before, str(tools.tool("frontload-exec")), *line.options,
                      f"--name={words[0]}", "--"]

        def until_ready() -> None:
            nonlocal at_ready, problem
            try:
                if b'"ready"' in line.read():
                    at_ready = _look_at_all(place, role or "", part)
            except Exception as failure:  # told when the command has ended
                at_ready, problem = set(), failure
            finally:
                line.release()

        status = processes.run_in_foreground(
            [*before, "env", *_asked(place, role, part), *words], os.environ,
            *([until_ready] if line else []))
        if problem is not None:
            raise problem
        written = sorted(set(sample.find(place)) - earlier if at_ready is None else at_ready)
        if ready:
            written = [path.rename(_free_name(folder / path.name)) for path in written]
        if data and written:
            _put_in_order(written, data)
    if not written:
        errors.error(f"{output}: no sample was written")
        errors.note(_WHY_NONE)
        return status or EXIT_VERDICT
    errors.note(f"{errors.count(len(written), 'sample')} with "
                f"{errors.count(_size(written), 'page')} in {output}")
    return status


@contextmanager
def _folder_within(folder: Path) -> Iterator[Path]:
    """One that only this recording knows, for who may write into the other."""
    path = Path(tempfile.mkdtemp(prefix=".until-ready.", dir=folder))
    try:
        path.chmod(stat.S_IMODE(folder.stat().st_mode))
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def _remove_if_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()


def _asked(folder: Path, role: str | None, part: tuple[int, int] | None) -> list[str]:
    """What is in the environment of the command alone; it may change its folder."""
    pattern = os.path.join(str(folder.resolve()).replace("%", "%%"), "%m.%p" + sample.SUFFIX)
    preloaded = [str(_library()), *filter(None, [os.environ.get("LD_PRELOAD")])]
    # Of many starts in production one is sampled; this one is to be.
    return ["--unset=FRONTLOAD_BINDIR", "--unset=FRONTLOAD_SAMPLE_EVERY",
            "FRONTLOAD_SAMPLE_SLICES={}/{}".format(*part) if part
            else "--unset=FRONTLOAD_SAMPLE_SLICES",
            f"FRONTLOAD_SAMPLE={pattern}", f"LD_PRELOAD={':'.join(preloaded)}",
            *([f"FRONTLOAD_ROLE={role}"] if role else [])]


def _library() -> Path:
    prefix = tools.tool("frontload-exec").resolve().parent.parent
    places = [prefix / "lib" / "frontload" / _LIBRARY, prefix / "lib" / _LIBRARY]
    found = next((place for place in places if place.exists()), None)
    if found is None:
        raise Failure(f"{places[-1]}: not found", note="build and install Frontload with CMake")
    if set(" :") & set(str(found)):
        raise Failure(f"{found}: cannot be preloaded: its path has a space or a colon",
                      note="install Frontload elsewhere")
    return found


def _below_perf(data: Path) -> list[str]:
    recorder = perf.find()
    if not recorder.works:
        missing = recorder.missing[0]
        raise Failure(f"perf cannot record faults here: {missing.why}",
                      note=missing.remedy + "; or sample without --page-order")
    events = [event for event in recorder.events
              if event.removesuffix(":u") in page_order.EVENTS]
    return [*recorder.prefix, *recorder.command(data, events, "--count=1", "--data")]


def _look_at_all(folder: Path, role: str, part: tuple[int, int] | None) -> set[Path]:
    """Takes samples of what the command has running, but for processes that have written theirs
    themselves; returns the samples that there are then."""
    run_number = secrets.randbits(63) | 1
    exec_program = os.stat(tools.tool("frontload-exec"))
    programs: dict[int, os.stat_result] = {}
    ours = set()
    for process in live_pages.below(os.getpid()):
        with suppress(OSError):
            programs[process] = os.stat(f"/proc/{process}/exe")
            if (os.path.samestat(programs[process], exec_program)
                    or Path(f"/proc/{process}/comm").read_bytes().startswith(b"perf")):
                ours.add(process)
    looked: list[tuple[PageSample, int | None]] = []
    for process, program in programs.items():
        if process not in ours:
            parent = _parent(process)
            forked = parent in programs and os.path.samestat(programs[parent], program)
            found = live_pages.sample(process, run_number, forked, role, part)
            if found is not None and found.main is not None:
                looked.append((found, parent))
    # What a process writes from here on comes too late: it has been looked at.
    there = set(sample.find(folder))
    known = list(_readable(sorted(there)))
    for found, parent in looked:
        if any((each.pid, each.main) == (found.pid, found.main) for each in known):
            continue
        found = _in_its_run(found, parent, parent in ours, known)
        known.append(found)
        there.add(_write_new(folder / f"{found.main.name}.{found.pid}{sample.SUFFIX}",
                             sample.to_bytes(found)))
    return there


def _parent(process: int) -> int | None:
    with suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")[2].split()[1])
    return None


def _readable(paths: Iterable[Path]) -> Iterator[PageSample]:
    for path in paths:
        with suppress(Failure):  # comes again when a profile is made
            yield sample.read(path)


def _in_its_run(found: PageSample, parent: int | None, is_child_of_ours: bool,
                known: Sequence[PageSample]) -> PageSample:
    """The library chooses a run's number for each execution: if another process of this one has
    written a sample, this sample is of the same run."""
    alike = [each for each in known if each.main == found.main]
    began = [each for each in alike if not each.forked]
    forked = found.forked
    if forked:
        kin = [each for each in alike if each.pid == parent]
    else:
        # Children of an execution whose first process has not written anything.
        kin = [each for each in alike if each.forked
               and each.run not in {other.run for other in began}]
        if not kin and is_child_of_ours:
            # A daemon whose parent has ended becomes the child of frontload-exec.
            kin = sorted((each for each in began if each.pid < found.pid),
                         key=lambda each: -each.pid)
            forked = bool(kin)
    return replace(found, run=kin[0].run, forked=forked) if kin else found


def _put_in_order(paths: Sequence[Path], data: Path) -> None:
    order = page_order.read(data, os.sysconf("SC_PAGE_SIZE"))
    for path in paths:
        _write(path, sample.to_bytes(order.of(sample.read(path))))


def _free_name(path: Path) -> Path:
    if os.path.lexists(path):  # of an earlier process of the same number
        return path.with_name(f"{path.name}.{secrets.randbits(32)}")
    return path


def _write_new(path: Path, content: bytes) -> Path:
    path = _free_name(path)
    _write(path, content)
    return path


def _write(path: Path, content: bytes) -> None:
    """All of it, or nothing. Nobody else reads what a process of ours has touched."""
    # Nobody takes this name for a sample's.
    descriptor, unfinished = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part",
                                              dir=path.parent)
    try:
        with open(descriptor, "wb") as stream:
            stream.write(content)
        os.replace(unfinished, path)
    except BaseException:
        os.unlink(unfinished)
        raise


def _size(paths: Sequence[Path]) -> int:
    return sum(len(touched.pages) for path in paths for touched in sample.read(path).touched)
