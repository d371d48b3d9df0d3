"""ld.frontload --front-prefetch: from the link to what is in memory when main() runs."""

import shutil
from pathlib import Path
from types import SimpleNamespace

import noted
import pytest
from elftools.elf.elffile import ELFFile
from frontload.pagecache import cache as pagecache
from frontload.pagecache import mounts

PROGRAMS = Path(__file__).parent / "programs"
PARTS = 32  # of 1 MiB each: a fault reads up to 8 MiB around it where the readahead is that large


@pytest.fixture(scope="module")
def parts(tmp_path_factory) -> SimpleNamespace:
    """What main() touches nothing of: functions that the profile says are touched all over."""
    folder = tmp_path_factory.mktemp("parts")
    source, profile = folder / "parts.s", folder / "app.startup"
    source.write_text("".join(
        f'.section .text.part{i},"ax",@progbits\n.globl part{i}\npart{i}: .fill 1 << 17, 8, {i}\n'
        for i in range(PARTS)) + '.section .note.GNU-stack,"",@progbits\n')
    names = [("-", "main"), *(("65536/16", f"part{i}") for i in range(PARTS))]
    profile.write_text("frontload-startup-profile 2\nprogram program\nruns 1\n" + "".join(
        f"function\ttext\t1\t+1\t{touched}\t{name}\n" for touched, name in names))
    return SimpleNamespace(source=source, profile=profile)


@pytest.fixture
def linker(build) -> Path:
    return build / "bin" / "ld.frontload"


@pytest.fixture
def linked_front(tmp_path, llvm, run, linker, library, parts):
    """linked_front(*flags): main.c and the parts, linked with a front, and the front's end."""

    def linked_front(*flags):
        path = tmp_path / "program"
        # glibc cannot start a static program that says where its libraries are.
        rpath = [] if "-static" in flags or "-static-pie" in flags else [
            f"-Wl,-rpath,{library.parent}"]
        run(llvm / "clang", f"--ld-path={linker}", "-O1", PROGRAMS / "main.c", parts.source,
            f"-Wl,--startup-profile={parts.profile},--front-always", *rpath, *flags, "-o", path)
        return path

    return linked_front


def front_end(path: Path) -> int:
    """Where the front ends in the file, by its note."""
    with path.open("rb") as stream:
        note = ELFFile(stream).get_section_by_name(".note.frontload").data()
    count = int.from_bytes(note[28:32], "little")
    assert count and len(note) == 32 + 16 * noted.MOST_RANGES
    end = int.from_bytes(note[24 + 16 * count:32 + 16 * count], "little")
    return noted.front_offset(path, end)


def needed(path: Path) -> list[str]:
    with path.open("rb") as stream:
        dynamic = ELFFile(stream).get_section_by_name(".dynamic")
        return [tag.needed for tag in dynamic.iter_tags("DT_NEEDED")] if dynamic else []


@pytest.mark.parametrize("option", ["--front-prefetch", "--front-prefetch=inside"])
@pytest.mark.parametrize("flags", [[], ["-no-pie"], ["-static"], ["-static-pie"],
                                   ["-Wl,--as-needed"], ["-s"], ["-Wl,-z,lazy"]], ids=" ".join)
def test_the_front_is_in_memory_before_main(tmp_path, linked_front, started, flags, option):
    """All of it, though main() touches a page or two; and without --front-prefetch hardly any."""
    if mounts.file_system(tmp_path) in mounts.IN_MEMORY:
        pytest.skip(f"{tmp_path} is in memory: nothing there can be cold")
    def share(path: Path) -> float:
        pagecache.make_cold(path)
        with started(path) as process:
            found = noted.share_read(path, front_end(path))
        assert process.returncode == 7, process.lines
        return found

    assert share(linked_front(*flags, f"-Wl,{option}")) == 1
    assert share(linked_front(*flags)) < noted.HARDLY


@pytest.mark.parametrize("before", [["-lm"], ["-Wl,--as-needed", "-lm"],
                                    ["-Wl,--push-state,--as-needed", "-lm", "-Wl,--pop-state"],
                                    ["-Wl,-Bstatic", "-lm", "-Wl,-Bdynamic"]],
                         ids=" ".join)
def test_the_library_is_needed_last(linked_front, before):
    """Whatever state the command line leaves the linker in, so that it is relocated first."""
    assert needed(linked_front("-Wl,--front-prefetch", *before))[-1] == "libfrontload-prefetch.so.1"


@pytest.mark.parametrize(("flags", "libraries"), [
    (["-static", "-Wl,--front-prefetch"], []), (["-Wl,--front-prefetch=inside"], ["libc.so.6"]),
    (["-no-pie", "-Wl,--front-prefetch=inside"], ["libc.so.6"])],
    ids=["static", "pie", "no-pie"])
def test_a_program_with_the_prefetcher_inside_needs_no_more(linked_front, flags, libraries):
    """A static program, or any that is linked with =inside: it starts where Frontload has never
    been."""
    path = linked_front(*flags)
    assert needed(path) == libraries
    with path.open("rb") as stream:
        symbols = ELFFile(stream).get_section_by_name(".symtab")
        assert symbols.get_symbol_by_name("frontload_prefetch_at_start")


def test_a_shared_library_does_not_prefetch_itself(tmp_path, run, llvm, linker, parts):
    """Nothing of it runs before it is relocated; it has its note all the same."""
    for name, flags in (("lib.so", ["-Wl,--front-prefetch"]), ("plain.so", [])):
        run(llvm / "clang", f"--ld-path={linker}", "-shared", "-nostdlib", parts.source,
            f"-Wl,--startup-profile={parts.profile},--front-always", *flags, "-o", tmp_path / name)
    path = tmp_path / "lib.so"
    assert path.read_bytes() == (tmp_path / "plain.so").read_bytes()
    assert front_end(path) > PARTS << 20


def test_a_relocatable_link_ignores_it(tmp_path, run, llvm, linker, parts):
    """Build systems pass the same flags to every link."""
    for name, flags in (("a.o", ["--front-prefetch", f"--startup-profile={parts.profile}"]),
                        ("b.o", [])):
        run(llvm / "clang", "-c", parts.source, "-o", tmp_path / "parts.o")
        run(linker, "-r", tmp_path / "parts.o", *flags, "-o", tmp_path / name)
    assert (tmp_path / "a.o").read_bytes() == (tmp_path / "b.o").read_bytes()


def test_without_a_profile_there_is_nothing_to_prefetch(tmp_path, run, linker):
    """It is refused before anything is linked."""
    result = run(linker, "--front-prefetch", "nothing.o", "-o", tmp_path / "out", code=2)
    assert "--front-prefetch: there is no front without a profile" in result.stderr
    assert "--startup-profile" in result.stderr


@pytest.mark.parametrize("flags, name", [
    (["-dynamic-linker", "/lib64/ld-linux-x86-64.so.2"], "libfrontload-prefetch.so"),
    ([], "libfrontload-prefetch.a"),
    (["-dynamic-linker", "/lib64/ld-linux-x86-64.so.2", "--no-dynamic-linker", "-pie"],
     "libfrontload-prefetch.a")], ids=["dynamic", "static", "static-pie"])
def test_a_missing_library_is_named(tmp_path, run, llvm, linker, parts, flags, name):
    """Where the linker was copied to without its libraries; the output stays as it was."""
    (tmp_path / "bin").mkdir()
    alone = shutil.copy(linker, tmp_path / "bin")
    run(llvm / "clang", "-c", parts.source, "-o", tmp_path / "parts.o")
    out = tmp_path / "out"
    out.write_text("precious")
    result = run(alone, *flags, tmp_path / "parts.o", "-e", "part0", "--front-prefetch",
                 f"--startup-profile={parts.profile}", "-o", out, code=2)
    first, second = result.stderr.splitlines()
    assert first.startswith("ld.frontload: error: --front-prefetch: ")
    assert str(tmp_path) in first and name in first and "No such file" in first
    assert second.startswith("ld.frontload: note: link without")
    assert out.read_text() == "precious"


def test_what_musl_would_not_start_is_refused(tmp_path, run, llvm, linker, parts):
    """musl loads no library with an IFUNC: the link is refused, not the start of the program."""
    run(llvm / "clang", "-c", parts.source, "-o", tmp_path / "parts.o")
    result = run(linker, "-dynamic-linker", "/lib/ld-musl-x86_64.so.1", tmp_path / "parts.o",
                 "-e", "part0", "--front-prefetch", f"--startup-profile={parts.profile}",
                 "-o", tmp_path / "out", code=2)
    assert "musl" in result.stderr and not (tmp_path / "out").exists()
