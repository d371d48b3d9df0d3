"""frontload faults, from the command line, with a program whose faults are known beforehand."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from abilities import need, needs, perf_recorder
from compiled import compile_to
from frontload.elf import file as elf
from frontload.pagecache import cache as pagecache
from frontload.pagecache import kernel, mounts
from frontload.pagecache.residency import Residency
from frontload.tracing import perf

# The pages are so far from everything else in the file that no readahead for that reaches them, and
# no touch reads ahead: each of them is a major fault, also on a device with a large readahead.
FLAGS = "-O1", "-fno-toplevel-reorder"
STRIDE, TOUCHES = 1 << 13, 6
SLEEP_NS = 4_000_000  # or more: it lies down a little after it says so
PHASES = ["exec", "loader", "relocation", "constructors", "main"]
SOURCE = r"""
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#define STRIDE (1 << 13)
#define PAGES __attribute__((section(".big"), aligned(4096))) const char
PAGES far[16 << 20] = {1};
PAGES before[STRIDE] = {1}, first[6 * STRIDE] = {2}, second[6 * STRIDE] = {3}, after[STRIDE] = {4};
PAGES farther[16 << 20] = {5};
__asm__(".section .pad, \"\", @progbits; .zero 16 << 20; .text");  // before the symbol table
static char buffer[1 << 16];
static volatile unsigned sum;
__attribute__((noinline)) void touch(const volatile char *array) {
  for (int i = 0; i < 6; ++i) sum += array[i * STRIDE + 100];
}
__attribute__((constructor)) static void construct(void) {
  madvise((void *)before, after + STRIDE - before, MADV_RANDOM);
  sum += ((volatile char *)before)[8];
}
__attribute__((noinline)) void ready(void) { sum += ((volatile char *)after)[16]; }
int main(int argc, char **argv) {
  if (argc > 2 && !strcmp(argv[1], "hang")) {
    close(open(argv[2], O_CREAT | O_WRONLY, 0600));
    pause();
  }
  usleep(5000);
  touch(first);
  if (fork() == 0) {
    touch(second);
    _exit(0);
  }
  wait(NULL);
  ready();
  if (argc > 2 && !strcmp(argv[1], "read"))
    sum += read(open(argv[2], O_RDONLY), buffer + 4096, 8192);
  if (argc > 3)
    sum += write(open(argv[3], O_CREAT | O_WRONLY, 0600), buffer, 8192);
  if (argc > 2 && !strcmp(argv[1], "dlopen"))
    sum += dlopen(argv[2], RTLD_NOW) != NULL;
  return argc > 1 && !strcmp(argv[1], "fail") ? 3 : 0;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory) -> SimpleNamespace:
    """Its path, and the offsets of its symbols in the file."""
    need("tmp-on-disk")
    # A name that could be taken for the beginning of another record.
    folder = tmp_path_factory.mktemp("faults") / "odd\n1/1 name: [x]"
    folder.mkdir(parents=True)
    path = compile_to(folder / "app", "cc", *FLAGS, "app.c", sources={"app.c": SOURCE})
    file = elf.read(path)
    section = file.sections[file.section_names.index(b".big")]
    place = int(section["offset"]) - int(section["addr"])
    return SimpleNamespace(path=path, offsets={name.decode(): int(value) + place for name, value in
                                               zip(file.symbols.names.all(), file.symbols.value,
                                                   strict=True)})


@pytest.fixture
def known(monkeypatch, request) -> perf.Recorder:
    """What perf can record has been tried out already. Breakpoints are for tests that have all of
    the machine's."""
    need("perf")
    names = [name for mark in request.node.iter_markers("needs") for name in mark.args]
    found = replace(perf_recorder(), breakpoints="hardware-breakpoints" in names)
    monkeypatch.setattr(perf, "find", lambda: found)
    return found


@pytest.fixture
def record(cli, tools, known, tmp_path):
    """record(*arguments, code=0): the JSON of frontload faults."""

    def record(*arguments, code=0) -> dict:
        file = tmp_path / "faults.json"
        cli("faults", "--warmup=0", f"--json={file}", "--first=0", *arguments, code=code)
        return json.loads(file.read_text())

    return record


def faults(document: dict, path: Path) -> list[dict]:
    """The faults in one file, one dictionary for each."""
    columns = document["faults"]
    number = [file["path"] for file in document["files"]].index(str(path))
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return [row for row in rows if row["file"] == number]


def touched(program, array: str) -> list[int]:
    return [program.offsets[array] + i * STRIDE + 100 for i in range(TOUCHES)]


def test_each_fault_is_known_to_the_byte(record, program, known):
    """The pages that the program and its child touch are major faults at exactly these offsets, in
    this order, in the process and function that touch them. In all, where those in kernel mode may
    be recorded, there are as many major faults as the kernel counted. Of the minor ones those lack
    which it takes for a process without its asking (such as the arguments that exec copies)."""
    document = record("--", program.path)
    assert document["condition"] == "selectively cold"
    found = [fault for fault in faults(document, program.path) if fault["major"]]
    for array, process in (("first", 0), ("second", 1)):
        wanted = touched(program, array)
        ours = [fault for fault in found if fault["offset"] in wanted]
        assert [fault["offset"] for fault in ours] == wanted
        assert {fault["process"] for fault in ours} == {process}
        assert {document["files"][fault["code_file"]]["path"] for fault in ours} == \
            {str(program.path)}
        assert len({fault["code_offset"] for fault in ours}) == 1
        assert {fault["thread"] for fault in ours} == {document["processes"][process]["pid"]}
        assert {fault["access"] for fault in ours} == {"r" if known.requests else "?"}
    assert [fault["time_ns"] for fault in found] == sorted(fault["time_ns"] for fault in found)
    assert document["processes"][1]["parent"] == 0

    major, sample, recorder = (document["faults"]["major"], document["sample"],
                               document["recorder"])
    unlisted = {kind: sample[f"{kind}_faults"] - major.count(number) - recorder["before_exec"][kind]
                for number, kind in enumerate(("minor", "major"))}
    assert recorder["unlisted"] == unlisted and recorder["lost"] == 0
    assert sample["major_faults"] >= 2 * TOUCHES
    if not any(missing["what"].startswith("faults taken") for missing in document["missing"]):
        assert unlisted["major"] == 0 <= unlisted["minor"] <= 8


@needs("perf-requests")
def test_fills_and_requests(record, program, tmp_path):
    """What the page cache holds after the run was filled; read(2) fills without a fault,
    also a file of which only the inode is known then; and the kernel's own write into an untouched
    page is a fault in kernel mode. What is written is not a fill. The recorder itself has read
    nothing of the program."""
    data = tmp_path / "some data"
    data.write_bytes(os.urandom(1 << 20))
    pagecache.make_cold(data)
    on_ext4 = mounts.file_system(data) == "ext4"
    evict = [] if on_ext4 else ["--evict={}", f"--evict={data}"]  # elsewhere inodes have no names
    document = record(*evict, "--", program.path, "read", data, tmp_path / "written")
    fills, paths = document["fills"], [file["path"] for file in document["files"]]
    for path in (program.path, data):
        number = paths.index(str(path))
        file = document["files"][number]
        after = Residency.from_text(file["size"], file["after"])
        filled = {offset // kernel.PAGE_SIZE + page for offset, size, of in zip(
            fills["offset"], fills["bytes"], fills["file"], strict=True) if of == number
            for page in range(size // kernel.PAGE_SIZE)}
        # Kernels with DAMON reclaim pages at any time.
        assert len(filled) > 2 and set(np.flatnonzero(after.pages).tolist()) <= filled
    assert str(tmp_path / "written") not in [paths[file] for file in fills["file"] if file >= 0]
    assert document["recorder"]["written_fills"] >= 1
    assert not faults(document, data)
    columns = document["faults"]
    assert any(kernel and access == "w" and file == -1 for kernel, access, file in
               zip(columns["kernel"], columns["access"], columns["file"], strict=True))
    assert sum(document["requests"]["bytes"]) >= 512 * document["sample"]["blocks_in"] > 0


@needs("hardware-breakpoints")
def test_the_phases_of_a_start(record, program, known):
    """Without a gap; what a constructor, main and --until's function touch lies in theirs, and what
    main waits for."""
    document = record("--until=ready", "--", program.path)
    phases = [phase for phase in document["phases"] if phase["process"] == 0]
    assert [phase["name"] for phase in phases] == [*PHASES, "started"]
    assert phases[0]["start_ns"] == 0
    for one, next in pairwise(phases):
        assert one["end_ns"] == next["start_ns"] >= one["start_ns"]
    time = {fault["offset"]: fault["time_ns"] for fault in faults(document, program.path)}
    for offset, name in ((program.offsets["before"] + 8, "constructors"),
                         (touched(program, "first")[0], "main"),
                         (program.offsets["after"] + 16, "started")):
        (phase,) = [phase for phase in phases if phase["name"] == name]
        assert phase["start_ns"] <= time[offset] < phase["end_ns"]
    assert document["until"] == {"symbol": "ready", "time_ns": phases[-1]["start_ns"]}
    if known.requests:
        waits = document["waits"]
        sleep = phases[-2]["waits_ns"]["clock_nanosleep"]
        assert SLEEP_NS <= sleep <= phases[-2]["end_ns"] - phases[-2]["start_ns"]
        assert (sleep, "clock_nanosleep", 0) in zip(waits["duration_ns"], waits["reason"],
                                                    waits["process"], strict=True)


@needs("hardware-breakpoints")
@pytest.mark.parametrize(("options", "names", "missing"), [
    (["-static"], ["exec", "constructors", "main"], "is static"),
    (["-s", "-no-pie"], PHASES, "has no symbol main")])
def test_phases_that_cannot_be_seen_are_said(record, tmp_path, options, names, missing):
    """Of a static and of a stripped program."""
    made = compile_to(tmp_path / "app", "cc", *FLAGS, "-w", "app.c", *options,
                      sources={"app.c": SOURCE})
    document = record("--as-it-is", "--", made)
    assert [phase["name"] for phase in document["phases"] if phase["process"] == 0] == names
    assert missing in str(document["missing"])


@needs("hardware-breakpoints")
def test_until_is_a_name_that_people_read(record, cli, tmp_path):
    """The symbol, or the name; one that is unknown or ambiguous is refused at once."""
    app = compile_to(tmp_path / "app", "c++", "-O1", "app.cpp", sources={"app.cpp": """
        namespace app { struct Server { void ready(), again(int), again(char); }; }
        volatile int sum;
        [[gnu::noinline]] void app::Server::ready() { sum = 1; }
        [[gnu::noinline]] void app::Server::again(int) { sum = 2; }
        [[gnu::noinline]] void app::Server::again(char) { sum = 3; }
        int main() { app::Server it; it.ready(); it.again(1); it.again('1'); }"""})
    for name in ("_ZN3app6Server5readyEv", "Server::again(char)"):
        document = record("--as-it-is", f"--until={name}", "--", app)
        assert document["until"]["symbol"] == name and document["until"]["time_ns"] > 0
    for name, said in (("again", "2 functions of "), ("no_such", f"{app} has no function")):
        assert f"--until: {name}: {said}" in cli("faults", f"--until={name}", "--", app, code=2).err


def test_programs_that_are_started_and_libraries_that_are_opened(record, program, tmp_path):
    """Each program has an entry and its files; an opened library is a file."""
    compile_to(tmp_path / "late.so", "cc", "-shared", "late.c", sources={
        "late.c": "const char late[1 << 16] = {1}; int used(void) {return 1;}"})
    document = record("--as-it-is", "--", "sh", "-c",
                      f'"$1" dlopen {tmp_path}/late.so; exec "$1"', "sh", program.path)
    names = [process["command"] for process in document["processes"]]
    assert names == ["sh", "app", "app", "app", "app"]  # sh, what it starts, what it becomes; forks
    assert [process["parent"] for process in document["processes"]] == [None, 0, 1, 0, 3]
    assert document["processes"][3]["pid"] == document["processes"][0]["pid"]
    assert faults(document, tmp_path / "late.so")
    execs = [phase for phase in document["phases"] if phase["name"] == "exec"]
    assert [phase["process"] for phase in execs] == [0, 1, 3]


def test_the_command_is_as_it_would_be_alone(record, run, tmp_path, monkeypatch):
    """Perf's own variables are not in the command's environment, and the user's are."""
    monkeypatch.setenv("PREFIX", "the user's own")
    monkeypatch.delenv("PERF_BUILDID_DIR", raising=False)
    record("--as-it-is", "--", "sh", "-c", f"env > {tmp_path}/recorded")
    recorded, alone = ([line for line in text.splitlines() if not line.startswith("_=")] for text in
                       ((tmp_path / "recorded").read_text(), run("sh", "-c", "env").stdout))
    assert sorted(recorded) == sorted(alone)


@needs("perf-requests", "loop-devices")
def test_on_a_device_of_its_own(record, program):
    """The copy faults, by the program's name; the requests are those of that device alone."""
    document = record("--device=nfs", "--", program.path)
    (number,) = set(document["requests"]["device"])
    assert number == document["device"]["number"]
    assert sum(document["requests"]["bytes"]) == sum(document["fills"]["bytes"]) > 0
    wanted = touched(program, "first")
    assert [fault["offset"] for fault in faults(document, program.path)
            if fault["offset"] in wanted and fault["major"]] == wanted


@needs("perf-requests", "strace")
def test_files_that_the_command_reads_are_evicted_too(record, program, tmp_path):
    """With --evict-seen what it reads besides is cold, and observed, without being named."""
    data = tmp_path / "data"
    data.write_bytes(os.urandom(1 << 20))
    document = record("--evict-seen", "--", program.path, "read", data)
    assert (str(data), "") in [(file["path"], file["before"]) for file in document["files"]]


def test_the_tables(cli, tools, known, program):
    """The faults are shown one by one, with section and function; names are escaped. A command that
    fails is recorded like any other, and said to have failed, by the exit code too."""
    result = cli("faults", "--warmup=0", "--all", "--", program.path, "fail", code=1)
    assert "app, selectively cold; exit status 3:" in result.out
    rows = [line for line in result.out.splitlines() if " .big " in line and " touch " in line]
    assert len(rows) == 2 * TOUCHES
    for offset, row in zip(touched(program, "first"), rows, strict=False):
        assert f"{offset:#x}" in row and " major " in row
    assert "odd\\n1/1 name" in result.out.replace("\n", "")
    assert "exited with status 3" in result.err


@needs("quiet-page-cache", "tmp-on-disk")
def test_warm_runs_have_no_major_faults(record, tmp_path, monkeypatch):
    """--warm reads the file before; its faults are minor then. (What the kernel may reclaim at any
    time, it would read again: the file stays locked from then on.)"""
    path = compile_to(tmp_path / "app", "cc", "app.c", sources={"app.c": "int main(void) {}\n"})
    pagecache.make_cold(path)
    make_warm, locked = pagecache.make_warm, []

    def warm_and_locked(file):
        make_warm(file)
        locked.append(kernel.lock(file))

    monkeypatch.setattr(pagecache, "make_warm", warm_and_locked)
    document = record("--warm", "--", path)
    assert document["condition"] == "warm" and len(locked) == 1
    assert {fault["major"] for fault in faults(document, path)} == {0}
    locked[0].close()


@needs("hardware-breakpoints")
def test_without_tracepoints(record, program, known, monkeypatch):
    """As without privileges: faults in user mode, and phases; all else is null or unknown."""
    unprivileged = replace(known, events=("major-faults:u", "minor-faults:u"), requests=False,
                           missing=(perf.Missing("page-cache fills", "not permitted", "be root"),))
    monkeypatch.setattr(perf, "find", lambda: unprivileged)
    document = record("--", program.path)
    assert (document["fills"], document["waits"], document["requests"]) == (None, None, None)
    assert {str(phase["waits_ns"]) for phase in document["phases"]} == {"None"}
    assert document["missing"][0]["remedy"] == "be root"
    assert set(touched(program, "first")) <= set(document["faults"]["offset"])
    assert not {"r", "w"} & set(document["faults"]["access"])
    assert not any(document["faults"]["kernel"])
    assert [phase["name"] for phase in document["phases"] if phase["process"] == 0] == PHASES


@pytest.mark.parametrize(("refused", "events", "missing"), [
    ("", {"faults", "fills", "waits", "requests", "breakpoints"}, []),
    ("-faults:k|:mm_|:sys_|:page_fault|:block_|:writeback", {"faults", "breakpoints"}, [
        "faults taken in kernel mode", "page-cache fills", "the beginning of exec",
        "whether a fault was a read or a write", "what the start waits for", "block requests"]),
    ("mem:", {"faults", "fills", "waits", "requests"}, ["phases after exec"]),
    ("faults", set(), ["faults, fills, requests and phases"]),
])
def test_each_kind_of_event_is_tried_out(monkeypatch, tmp_path, refused, events, missing):
    """What perf refuses is not recorded, and said with perf's own words and a remedy."""
    fake = tmp_path / "perf"
    fake.write_text(f"""#!/bin/sh
[ "$1" = version ] && echo "perf version 6.99" && exit
for word; do case $word in --event) next=1 ;; *) [ "$next" ] && list=$word; next= ;; esac; done
[ -z "{refused}" ] || ! echo "$list" | grep -qE -e "{refused}" && exit
printf 'event syntax error:\\n    \\\\___ No permission to do so\\n\\nRun perf list\\n' >&2
exit 129
""")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    found = perf.find()
    kinds = {"faults": any("major-faults" in event for event in found.events),
             "fills": perf.FILLS in found.events,
             "waits": set(perf.RESTS) <= set(found.events), "requests": found.requests,
             "breakpoints": found.breakpoints}
    assert {kind for kind, there in kinds.items() if there} == events
    assert [each.what for each in found.missing] == missing
    assert all("No permission to do so" in each.why and each.remedy for each in found.missing)


def test_without_perf(cli, tools, program, monkeypatch, tmp_path):
    """Residency and rusage remain, and what is missing is said with what would give it."""
    monkeypatch.setenv("PATH", str(tmp_path))
    cli("faults", "--warmup=0", f"--json={tmp_path}/faults", "--first=0", "--", program.path)
    document = json.loads((tmp_path / "faults").read_text())
    (missing,), (file,) = document["missing"], document["files"]
    assert missing["why"] == "perf: not found" and "linux-perf" in missing["remedy"]
    assert (document["faults"], document["fills"], document["requests"]) == (None, None, None)
    assert document["sample"]["major_faults"] >= 2 * TOUCHES and file["after"] > file["before"]


@needs("perf", "hardware-breakpoints", "program:pgrep")
def test_an_interrupt_ends_the_command(build, spawn, program, tmp_path):
    """Ctrl-C: exit 130; the command, perf and the temporary files are gone."""
    marker = tmp_path / "marker"
    os.mkfifo(marker)
    process = spawn(
        sys.executable, "-m", "frontload", "faults", "--warmup=0", "--", program.path, "hang",
        marker, env={**os.environ, "TMPDIR": str(tmp_path), "FRONTLOAD_BINDIR": f"{build}/bin"})
    assert marker.read_bytes() == b""  # the program has opened it
    group = subprocess.run(["pgrep", "-f", marker], capture_output=True, text=True).stdout.split()
    process.send_signal(signal.SIGINT)
    assert process.wait() == 130
    assert len(group) > 2  # this command, perf and what it records
    assert not [number for number in group if Path("/proc", number).exists()]
    assert not list(tmp_path.glob("frontload*"))
