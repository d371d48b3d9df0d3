"""Starts that were not trained: records them, trains a front with others, and predicts them."""

import re
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from frontload.base import errors, processes
from frontload.measure import prediction
from frontload.profile import trace

from coldbench.variants.work_folder import WorkFolder
from coldbench.variants.workload import RECORDED

DEVICES = ("hdd", "emmc", "ssd", "nfs")


def record(work: WorkFolder, name: str) -> list[Path]:
    """The traces of a scenario; existing ones are kept."""
    front = work.folder / "heldout"
    folder = front / re.sub(r"[^\w-]+", "-", name)
    program = work.binary(RECORDED.program)
    if not (folder / "recorded").exists():
        shutil.rmtree(folder, ignore_errors=True)  # of an interrupted recording
        for made in (front, folder):
            made.mkdir(exist_ok=True)
            made.chmod(0o1777)  # for a command that changes its user
        output = front / "output"
        words = work.fill_in(work.workload.scenarios[name], output)
        command, options = (program, *words), []
        if ready := work.ready(output):
            command = work.command(RECORDED.program, program, output)
            options = replace(ready, request=f"{ready.request} {shlex.join(words)}").options()
        with work.environment():
            processes.check_call(
                [work.bin / "frontload", "record", "--quiet", "--data", "-o", folder, *options,
                 "--", *command], cwd=work.folder)
        (folder / "recorded").touch()
    return [path for path in trace.find(folder) if path.name.startswith(program.name)]


def train(work: WorkFolder, traces: Sequence[Path]) -> Path:
    """A profile of these starts."""
    made = work.folder / "heldout" / "trained.startup"
    link_map = work.folder / f"{work.workload.folder_name}.{RECORDED.program}.map"
    processes.check_call([work.bin / "frontload", "profile", "--quiet", *traces, "--map", link_map,
                          "-o", made], cwd=work.folder)
    return made


def build(work: WorkFolder) -> None:
    """The program to record, and one with a front: also what starts need, as Python's library."""
    work.build([work.target(RECORDED.program),
                work.target("front" if "front" in work.workload.variants else "trained")])


def link(work: WorkFolder, startup: Path | None, name: str = "linked",
         more: Sequence[str] = ()) -> Path:
    """The program with a front by this profile, or by none, and with `more` options of LLVM."""
    target = work.target("front" if "front" in work.workload.variants else "trained")
    linked = work.folder / "heldout" / name
    build = re.sub(r"(--front-report=)[^, ]+", rf"\1{linked}.json", work.build_command(target))
    between = "," if re.search(r"-Wl,\S*--startup-profile=", build) else " "
    trained = f"{between}-mllvm{between}".join(
        (f"--startup-profile={shlex.quote(str(startup))}" if startup else "--front=auto", *more))
    for old, new in ((r"--startup-profile=[^, ]+", trained),
                     (rf"-o (\.\./)?{re.escape(target)}(?= |$)", f"-o {shlex.quote(str(linked))}")):
        build, found = re.subn(old, new.replace("\\", r"\\"), build)
        if found != 1:
            raise errors.Failure(f"{target}: the command that links it has no {old}")
    # Its messages would stand between the tables.
    log = shlex.quote(f"{linked}.log")
    processes.check_call(["sh", "-c", f"{{ {build}; }} 2>{log} || {{ tail {log}; exit 1; }}"],
                         cwd=work.folder)
    return linked


def predict(work: WorkFolder, program: Path, traces: Sequence[Path], prefetch: str) -> dict:
    """The figures of a start: sums of its processes."""
    answer = prediction.ask(program, traces, work.binary(RECORDED.program),
                            [f"--prefetched={prefetch}", *(f"--device={d}" for d in DEVICES)])
    starts = [start["devices"] for start in answer["predictions"]]
    figures = {name: sum(start[DEVICES[0]][name] for start in starts)
               for name in ("major_faults", "read_bytes", "requests")}
    return figures | {f"seconds_{device}": sum(start[device]["seconds"] for start in starts)
                      for device in DEVICES}
