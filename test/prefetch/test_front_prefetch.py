"""ld.frontload --front-prefetch: from the link to what is asked for before main() runs."""

import shutil
import struct
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

    def linked_front(*flags):
        path = tmp_path / "program"
        # glibc cannot start a static program that says where its libraries are.
        rpath = [] if "-static" in flags or "-static-pie" in flags else [
            f"-Wl,-rpath,{library.parent}"]
        run(llvm / "clang", f"--ld-path={LD_FRONTLOAD}", parts.main, parts.object,
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


@needs("pid-namespace")
@pytest.mark.parametrize("option", ["", "=inside"])
def test_the_tail_is_asked_for_last(linked_front, program, asked, calls, option):
    """By a process of the lowest priority, for which the program does not wait, but for the child
    that made it; by none where nobody would look after that process, and where the tail is in
    memory."""
    if option:
        path = linked_front(f"-Wl,--front-prefetch{option}", "-static")
        front, tail = map(pieces, noted_ranges(path))
    else:
        made = program(copy=True)
        ranges = [(made.start, made.start + 5), (made.end - 9999, made.end)]
        path = made.write(noted.note(ranges, count=2 | 1 << 16)).path
        front, tail = (made.pieces(each) for each in ranges)
    assert front and tail and asked(path, prefix=process_1(False)) == front
    assert asked(path, prefix=process_1(True)) == [*front, *tail]
    seen = calls(path, prefix=process_1(True),
                 only=("readahead", "setpriority", "preadv2", "mincore", "wait4"))
    lowest = next(i for i, line in enumerate(seen) if "setpriority(PRIO_PROCESS, 0, 19)" in line)
    assert sum("readahead" in line for line in seen[:lowest]) == len(front)
    assert noted.awaits_its_child(seen)
    warm = asked(path, prefix=process_1(True), inject=noted.WARM, only=("getrusage",))
    assert warm == ([] if option else front)  # so small a front is not looked at


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
