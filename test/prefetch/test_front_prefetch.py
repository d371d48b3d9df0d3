"""ld.frontload --front-prefetch: from the link to what is asked for before main() runs."""

import os
import re
import shutil
import struct
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import noted
import pytest
from abilities import needs
from compiled import compile_to
from elftools.elf.elffile import ELFFile
from linking import (
    ALWAYS,
    LD_FRONTLOAD,
    TWO_FUNCTIONS,
    Image,
    compile_text,
    write_profile,
)
from noted import PROGRAMS
from process_1 import process_1

PARTS = 32
PART_SIZE = 128 << 10


@pytest.fixture(scope="module")
def parts(tmp_path_factory, llvm) -> SimpleNamespace:
    """What main() touches nothing of: functions that the profile says are touched all over."""
    folder = tmp_path_factory.mktemp("parts")
    profile = folder / "app.startup"
    source = '.section .note.GNU-stack,"",@progbits\n' + "".join(
        f'.section .text.part{i},"ax",@progbits\n.globl part{i}\n'
        f"part{i}: .fill {PART_SIZE}, 1, {i}\n" for i in range(PARTS))
    names = [("-", "main"), *((f"{PART_SIZE // 16}/16", f"part{i}") for i in range(PARTS))]
    profile.write_text("frontload-startup-profile 2\nprogram program\nruns 1\n" + "".join(
        f"function\ttext\t1\t+1\t{touched}\t{name}\n" for touched, name in names))
    objects = [compile_to(folder / f"{name}.o", llvm / "clang", "-O1", "-c", file, sources=sources)
               for name, file, sources in (
                   ("parts", "parts.s", {"parts.s": source}),
                   ("main", "main.c", {"main.c": PROGRAMS / "main.c"}))]
    return SimpleNamespace(object=objects[0], main=objects[1],
                           profile=f"--startup-profile={profile}")


@pytest.fixture
def linked_front(tmp_path, llvm, run, library, parts):
    """linked_front(*flags): main.c and the parts, linked with a front."""

    def linked_front(*flags, main=parts.main):
        path = tmp_path / "program"
        # glibc cannot start a static program that says where its libraries are.
        rpath = [] if "-static" in flags or "-static-pie" in flags else [
            f"-Wl,-rpath,{library.parent}"]
        run(llvm / "clang", f"--ld-path={LD_FRONTLOAD}", main, parts.object,
            f"-Wl,{parts.profile},--front-always", *rpath, *flags, "-o", path)
        return path

    return linked_front


def noted_ranges(path: Path) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """The ranges of the front and of its tail, by the file's note."""
    with path.open("rb") as stream:
        note = ELFFile(stream).get_section_by_name(".note.frontload").data()
    count, tail = struct.unpack_from("<HH", note, 28)
    assert tail < count and len(note) == 32 + 16 * noted.FRONT_RANGES
    numbers = [noted.front_offset(path, each)
               for each in struct.unpack_from(f"<{2 * count}Q", note, 32)]
    ranges = list(zip(numbers[::2], numbers[1::2], strict=True))
    return ranges[:count - tail], ranges[count - tail:]


def pieces(ranges) -> list[tuple[int, int]]:
    """How these ranges are asked for."""
    return [piece for each in ranges for piece in noted.pieces(*each)]


def front_end(path: Path) -> int:
    """Where the front ends in the file, by its note."""
    return noted_ranges(path)[0][-1][1]


def needed(path: Path) -> list[str]:
    with path.open("rb") as stream:
        dynamic = ELFFile(stream).get_section_by_name(".dynamic")
        return [tag.needed for tag in dynamic.iter_tags("DT_NEEDED")] if dynamic else []


LIBRARY = "libfrontload-prefetch.so.1"


@needs("pid-namespace")
@pytest.mark.parametrize(("option", "flags", "last"), [
    ("", [], LIBRARY), ("", ["-no-pie", "-lm"], LIBRARY),
    ("", ["-Wl,-z,lazy", "-Wl,--as-needed", "-lm"], LIBRARY),
    ("", ["-Wl,-Bstatic", "-lm", "-Wl,-Bdynamic"], LIBRARY), ("", ["-static"], None),
    ("", ["-static-pie"], None), ("=inside", ["-s"], "libc.so.6"),
    ("=inside", ["-no-pie"], "libc.so.6"), ("=inside", ["-static"], None)], ids=str)
def test_the_front_is_asked_for(linked_front, asked, flags, option, last):
    """All of it, though main() touches a page or two; and without --front-prefetch nothing. The
    library is needed last, whatever state the command line leaves the linker in, so that it is
    relocated first; with the prefetcher inside there is none."""
    path = linked_front(f"-Wl,--front-prefetch{option}", *flags)
    front, _ = noted_ranges(path)
    assert asked(path, prefix=process_1(False)) == pieces(front)
    assert front[0][0] == 0 and front_end(path) > PARTS * PART_SIZE
    assert last in (needed(path) or [None])[-1:]
    assert asked(linked_front(*flags)) == []


@pytest.fixture
def with_tail(linked_front, program):
    """with_tail(option): a program that is linked by ld.frontload with a prefetch, or by another
    linker; and how its front and its tail are asked for."""

    def with_tail(option):
        if option:
            path = linked_front(f"-Wl,--front-prefetch{option}", "-static")
            return path, *map(pieces, noted_ranges(path))
        made = program(copy=True)
        ranges = [(made.start, made.start + 5), (made.end - 9999, made.end)]
        made.write(noted.note(ranges, count=2 | 1 << 16))
        return made.path, *map(made.pieces, ranges)

    return with_tail


@pytest.fixture
def machine(tmp_path):
    """A process 1 that looks after orphans, on a machine that has had as many major faults as the
    file `machine.faults` says."""
    faults = tmp_path / "vmstat"
    faults.write_text("nr_free_pages 1\n" * 9 + "pgmajfault 5\n")
    return SimpleNamespace(faults=faults, process_1=(
        *process_1(True), "sh", "-c", f'mount --bind {faults} /proc/vmstat && exec "$@"', "sh"))


@pytest.fixture
def held(tmp_path):
    """held(pattern, count, then=None): input that does not end before the log of calls has so many
    lines like that, nor before `then` has returned. Bounded, so that a test fails and does not
    hang."""
    log = tmp_path / "calls"

    def await_lines(pattern, count):
        for _ in range(500):
            if log.exists() and len(re.findall(pattern, log.read_text())) >= count:
                return
            time.sleep(0.02)

    def held(pattern, count, then=lambda await_lines: None):
        def hold():
            await_lines(pattern, count)
            then(await_lines)
            os.close(writer)

        log.unlink(missing_ok=True)
        reader, writer = os.pipe()
        threading.Thread(target=hold).start()
        return open(reader, "rb")

    return held


# What strace makes of the looks at faults from the fortieth read on, when nothing but these is
# read: the program's number grows, for a fault that read also the machine's.
GROWN, COUNT = b") S " + b"1 " * 8 + b"99999 " + b"0 " * 16, b"\npgmajfault 6\n"
WAITS = f"pread64:poke_exit=@arg2={GROWN.hex()}:when=40+"
FAULT = f"pread64:poke_exit=@arg2={(GROWN + COUNT).hex()}:when=40..41"


@needs("pid-namespace")
@pytest.mark.parametrize("option", ["", "=inside"])
@pytest.mark.parametrize("clone", ["clone3:delay_exit=0", "clone3:error=ENOSYS"])
def test_the_tail_is_asked_for_after_the_first_fault(with_tail, asked, calls, machine, held, option,
                                                     clone):
    """By a process of the lowest priority, for which the program does not wait, but for the child
    that made it. That process may share the program's memory, so it gives up all other calls before
    it waits. There is none where nobody would look after it, and where the tail is
    in memory."""
    path, front, tail = with_tail(option)
    assert front and tail and asked(path, prefix=process_1(False)) == front
    only = ("readahead", "setpriority", "preadv2", "mincore", "wait4", "pread64", "ppoll", "prctl")
    seen = calls(path, prefix=machine.process_1, inject=(*noted.COLD, FAULT, clone), only=only,
                 stdin=held(r"readahead\(", len(front) + len(tail)))
    assert noted.requests(seen, path) == [*front, *tail]
    limited, watching, lowest = (
        next(i for i, line in enumerate(seen) if call in line)
        for call in ("prctl(PR_SET_SECCOMP", "ppoll(", "setpriority(PRIO_PROCESS, 0, 19)"))
    assert limited < watching < lowest and seen[limited].endswith(" = 0")
    assert sum("ppoll(" in line for line in seen[:lowest]) < 50  # when it is too early to count all
    assert sum("readahead" in line for line in seen[:lowest]) == len(front)
    assert noted.awaits_its_child(seen)
    warm = asked(path, prefix=machine.process_1, inject=noted.WARM, only=("getrusage",))
    assert warm == ([] if option else front)  # so small a front is not looked at


@needs("pid-namespace")
def test_a_start_within_its_front_asks_for_no_tail(with_tail, asked, calls, machine, held):
    """However long it lasts, and the process that watches it ends with it. A wait for the front is
    no reason, though older kernels count it as a fault of the program. Faults of the whole machine
    count, since they may be those of processes that the program has forked."""
    path, front, tail = with_tail("=inside")
    looks = {"prefix": machine.process_1, "only": ("ppoll",)}
    for inject in (noted.COLD, (*noted.COLD, WAITS)):
        assert tail and asked(path, stdin=held(r"ppoll\(", 80), inject=inject, **looks) == front

    def fault(await_lines):
        machine.faults.write_text(machine.faults.read_text().replace("5", "6"))
        await_lines(r"readahead\(", len(front) + len(tail))

    assert asked(path, stdin=held(r"ppoll\(", 5, fault), **looks) == [*front, *tail]


@needs("pid-namespace")
def test_a_program_that_becomes_another_one_is_left(tmp_path, linked_front, calls, machine, held):
    """After hardly a look at the other one, the process that watches ends, and with it the memory
    of the old program."""
    becomes = compile_text(tmp_path, "becomes.c", """
#include <unistd.h>
int main(int count, char **words) {
  char byte;
  while (read(0, &byte, 1) > 0)
    ;
  return execlp("cat", "cat", words[count - 1], (char *)0);
}
""", "-O1")
    path = linked_front("-Wl,--front-prefetch=inside", "-static", main=becomes)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    watch_ends = held(r"(?ms)^(\d+) +ppoll.*^\1 +exit_group", 1)
    threading.Thread(target=lambda: shutil.copyfileobj(watch_ends, pipe.open("wb")),
                     daemon=True).start()
    seen = calls(path, str(pipe), stdin=held(r"ppoll\(", 2), prefix=machine.process_1,
                 inject=noted.COLD, code=0, only=("preadv2", "pread64", "ppoll", "exit_group"))
    assert any("(program)" in line for line in seen)
    assert 0 < sum("(cat)" in line for line in seen) < 20, seen


def test_a_shared_library_does_not_prefetch_itself(tmp_path, run, llvm, parts):
    """Nothing of it runs before it is relocated; it has its note all the same."""
    for name, flags in (("lib.so", ["-Wl,--front-prefetch"]), ("plain.so", [])):
        run(llvm / "clang", f"--ld-path={LD_FRONTLOAD}", "-shared", "-nostdlib", parts.object,
            f"-Wl,{parts.profile},--front-always", *flags, "-o", tmp_path / name)
    path = tmp_path / "lib.so"
    assert path.read_bytes() == (tmp_path / "plain.so").read_bytes()
    assert front_end(path) > PARTS * PART_SIZE


def test_a_relocatable_link_ignores_it(tmp_path, run, parts):
    """Build systems pass the same flags to every link."""
    run(LD_FRONTLOAD, "-r", parts.object, "--front-prefetch", parts.profile, "-o", tmp_path / "a.o")
    run(LD_FRONTLOAD, "-r", parts.object, "-o", tmp_path / "b.o")
    assert (tmp_path / "a.o").read_bytes() == (tmp_path / "b.o").read_bytes()


def test_a_program_for_another_machine_does_not_prefetch(tmp_path, build, run):
    """A build for 64 bits may also make programs of 32 bits, which cannot load the library."""
    program = compile_text(tmp_path, "app.c", TWO_FUNCTIONS, "-m32", compiler="clang")
    said = run(LD_FRONTLOAD, "-m", "elf_i386", "-dynamic-linker", "/lib/ld-linux.so.2",
               "-plugin", build / "lib" / LIBRARY, program,
               "-e", "main", f"--startup-profile={write_profile(tmp_path, 'main')}", ALWAYS,
               "--front-prefetch", "-o", tmp_path / "app").stderr
    assert "app: does not prefetch its front: the library for it is for another machine" in said
    assert Image(tmp_path / "app").section_of("main") == ".text.front"


def test_without_a_profile_there_is_nothing_to_prefetch(tmp_path, run):
    """It is refused before anything is linked."""
    result = run(LD_FRONTLOAD, "--front-prefetch", "nothing.o", "-o", tmp_path / "out", code=2)
    assert "--front-prefetch: there is no front without a profile" in result.stderr
    assert "--startup-profile" in result.stderr


@pytest.mark.parametrize("flags, name", [
    (["-dynamic-linker", "/lib64/ld-linux-x86-64.so.2"], "libfrontload-prefetch.so"),
    (["-dynamic-linker", "/lib64/ld-linux-x86-64.so.2", "--no-dynamic-linker", "-pie"],
     "libfrontload-prefetch.a")], ids=["dynamic", "static"])
def test_a_missing_library_is_named(tmp_path, run, parts, flags, name):
    """Where the linker was copied to without its libraries; the output stays as it was."""
    (tmp_path / "bin").mkdir()
    alone, out = shutil.copy(LD_FRONTLOAD, tmp_path / "bin"), tmp_path / "out"
    out.write_text("precious")
    said = run(alone, *flags, parts.object, "-e", "part0", "--front-prefetch", parts.profile,
               "-o", out, code=2).stderr
    assert said.startswith(f"ld.frontload: error: --front-prefetch: {tmp_path}")
    assert f"{name}: No such file" in said and "\nld.frontload: note: link without" in said
    assert out.read_text() == "precious"


@needs("program:musl-gcc")
@pytest.mark.parametrize("kind", ["-pie", "-static"])
def test_a_program_of_musl_has_it_inside(tmp_path, run, parts, asked, kind):
    """musl loads no library with an IFUNC."""
    path = tmp_path / "program"
    (tmp_path / "ld").symlink_to(LD_FRONTLOAD)
    # musl-gcc names the loader of static programs as well, which lld believes.
    static = ["-Wl,--no-dynamic-linker"] if kind == "-static" else []
    run("musl-gcc", f"-B{tmp_path}", kind, *static, parts.main, parts.object,
        f"-Wl,{parts.profile},--front-always,--front-prefetch", "-o", path)
    assert asked(path) == noted.pieces(0, front_end(path))
