"""The note that says where a file's front ends, in all kinds of files."""

import os
import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from frontload.elf import file as elf
from frontload.elf import front
from linking import (
    LD_FRONTLOAD,
    LLVM,
    check_run,
    compile_text,
    ld,
    link,
    report_of,
    write_profile,
)
from whole import PAGE, compile_whole, file_offset, link_whole, load_segments

NAME = b"Frontload\0\0\0"
MOST_RANGES = 16
# Freestanding, for any target.
PROGRAM = """
    static const char *const words[2] = {"hot", "cold"};
    const char *volatile word;
    int data = 3;
    void hot(int x) { word = words[x]; }
    void cold(int x) { word = &words[x][1]; }
    void _start(void) { hot(data); }
"""


def front_notes(path: Path) -> list[tuple[int, list[tuple[int, int]]]]:
    """The notes of a front in a file's PT_NOTE segments: offset, and the ranges' addresses."""
    found = []
    content = path.read_bytes()
    with path.open("rb") as stream:
        linked = ELFFile(stream)
        order = "<" if linked.little_endian else ">"
        for segment in linked.iter_segments("PT_NOTE"):
            at, end = segment["p_offset"], segment["p_offset"] + segment["p_filesz"]
            while at < end:
                name_size, size, kind = struct.unpack_from(order + "III", content, at)
                description = at + 12 + (name_size + 3 & ~3)
                if name_size == 10 and content[at + 12:at + 24] == NAME and kind == 1:
                    version, count = struct.unpack_from(order + "II", content, description)
                    assert version == 2 and size == 8 + 16 * MOST_RANGES and count >= 1
                    numbers = struct.unpack_from(order + f"{2 * MOST_RANGES}Q", content,
                                                 description + 8)
                    assert not any(numbers[2 * count:])
                    found.append((at, list(zip(numbers[:2 * count:2], numbers[1:2 * count:2],
                                               strict=True))))
                align = max(segment["p_align"], 4)
                at = description + (size + align - 1 & ~(align - 1))
    return found


def check_note(path: Path, report: Path) -> None:
    """It is in the first page, and tells the end that the report tells; each range is in memory as
    it is in the file."""
    ((offset, ranges),) = front_notes(path)
    assert offset < PAGE
    # The last byte of the front is one that is loaded.
    offsets = [(file_offset(path, begin), file_offset(path, end - 1) + 1) for begin, end in ranges]
    assert all(to - at == end - begin
               for (at, to), (begin, end) in zip(offsets, ranges, strict=True))
    assert offsets[0][0] == 0 and offsets[-1][1] == report_of(report).end
    # Where pages are small, they follow each other: one range for whoever reads the file.
    if max(segment.p_align for segment in load_segments(path)) == PAGE:
        offsets = [(0, report_of(report).end)]
    assert front.ranges_of(elf.read(path)) == offsets


@pytest.mark.parametrize("flags", [["-no-pie"], ["-pie"], ["-shared"], ["-static"],
                                   ["-static-pie"], ["-pie", "-Wl,-z,separate-loadable-segments"],
                                   ["-pie", "-Wl,-O2"], ["-pie", "-s"], ["-pie", "-nostdlib"]],
                         ids=" ".join)
def test_a_file_of_any_kind_has_it(tmp_path, flags):
    """Programs and libraries, whether or not they have an interpreter or other notes."""
    start = "void _start(void) {}" if "-nostdlib" in flags else "int main(void) { return f(0); }"
    o = compile_text(tmp_path, "a.c", f"""
        const char *f_word; int filler[9] = {{1}};
        int f(int x) {{ f_word = "word"; return x; }} {start}
    """, "-fPIC")
    report = tmp_path / "report.json"
    link(tmp_path / "out", o, *flags, f"-Wl,--front-report={report}",
         profile=write_profile(tmp_path, "f"))
    check_note(tmp_path / "out", report)


@pytest.mark.parametrize("target", ["i386", "x86_64", "aarch64", "aarch64_be", "riscv32", "riscv64",
                                    "armv7", "powerpc", "powerpc64le", "mips", "s390x"])
def test_a_target_of_any_kind_has_it(tmp_path, target):
    """32 and 64 bits, both byte orders, and with other features to claim."""
    o = compile_text(tmp_path, "a.c", PROGRAM, f"--target={target}-linux-gnu", compiler="clang")
    report = tmp_path / "report.json"
    ld(o, "-o", tmp_path / "out", "-e", "_start", f"--front-report={report}",
       f"--startup-profile={write_profile(tmp_path, 'hot')}")
    check_note(tmp_path / "out", report)


FEATURES = {"x86_64": ("-fcf-protection=full", "x86 feature: IBT, SHSTK"),
            "i386": ("-fcf-protection=full", "x86 feature: IBT, SHSTK"),
            "aarch64": ("-mbranch-protection=standard", "aarch64 feature: BTI, PAC")}


def features(path: Path) -> str:
    return check_run(LLVM / "llvm-readelf", "-n", path)


@pytest.mark.parametrize("target", FEATURES)
def test_features_of_all_objects_stay(tmp_path, target):
    """Branch protection is on if all objects have it, and if one has it not, it is off."""
    flag, expected = FEATURES[target]
    target = f"--target={target}-linux-gnu"
    a = compile_text(tmp_path, "a.c", PROGRAM, flag, target, compiler="clang")
    b = compile_text(tmp_path, "b.c", "int b;", flag, target, compiler="clang")
    c = compile_text(tmp_path, "c.c", "int c;", target, compiler="clang")
    profile = f"--startup-profile={write_profile(tmp_path, 'hot')}"
    for objects, has in (((a, b), True), ((a, c), False), ((c, a), False)):
        ld(*objects, "-o", tmp_path / "out", profile)
        assert (expected in features(tmp_path / "out")) == has
        assert front_notes(tmp_path / "out")


def test_features_of_objects_that_are_not_linked_do_not_count(tmp_path):
    """An archive that comes first may have members that nobody needs."""
    flag, expected = FEATURES["x86_64"]
    unneeded = compile_text(tmp_path, "unneeded.c", "int unneeded;")
    unprotected = tmp_path / "unprotected.o"
    check_run("objcopy", "--remove-section=.note.gnu.property", unneeded, unprotected)
    archive = tmp_path / "lib.a"
    check_run("ar", "rcs", archive, unprotected)
    a = compile_text(tmp_path, "a.c", PROGRAM, flag)
    ld(archive, a, "-o", tmp_path / "out", f"--startup-profile={write_profile(tmp_path, 'hot')}")
    assert expected in features(tmp_path / "out")


TOOLS = [["strip"], [LLVM / "llvm-strip"], ["eu-strip"], ["objcopy", "--strip-debug"],
         [LLVM / "llvm-objcopy", "--strip-all"], ["objcopy", "--remove-section=.comment"]]


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: " ".join(Path(a).name for a in tool))
def test_tools_keep_it(tmp_path, tool):
    """What makes a file smaller leaves the note, and where it points to."""
    if not shutil.which(tool[0]):
        pytest.skip(f"needs {tool[0]}")
    path, _ = link_whole(tmp_path, compile_whole(tmp_path, "-g"))
    ((_, ranges),) = front_notes(path)
    last = ranges[-1][1] - 1
    before = path.read_bytes()[file_offset(path, last)]
    check_run(*tool, path)
    ((_, after),) = front_notes(path)
    assert after == ranges
    assert path.read_bytes()[file_offset(path, last)] == before
    # Who reads it finds all of it, too: no range has another size in the file now.
    assert front.end_of(elf.read(path)) == file_offset(path, last) + 1


def test_an_output_that_is_no_file(tmp_path):
    """Builds link to /dev/null to see whether they can; it stays what it is."""
    o = compile_text(tmp_path, "a.c", PROGRAM)
    before = os.stat("/dev/null")
    ld(o, "-o", "/dev/null", f"--startup-profile={write_profile(tmp_path, 'hot')}")
    assert os.stat("/dev/null").st_rdev == before.st_rdev


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"),
                    reason="needs root and setpriv, which takes root's rights away")
def test_an_output_that_its_owner_may_not_write(tmp_path):
    """The umask may take away the right to write; the file has its note, and the same rights."""
    o = compile_text(tmp_path, "a.c", PROGRAM)
    report = tmp_path / "report.json"
    profile = f"--startup-profile={write_profile(tmp_path, 'hot')}"
    ld(o, "-o", tmp_path / "expected", f"--front-report={report}", profile)
    # Root without capabilities, and not another user, who may not see where the linker was built.
    command = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "sh", "-c",
               'umask 222 && exec "$0" "$@"', LD_FRONTLOAD, o, "-o", tmp_path / "out", profile]
    subprocess.run(command, check=True)
    out = tmp_path / "out"
    assert out.read_bytes() == (tmp_path / "expected").read_bytes()
    assert out.stat().st_mode & 0o777 == 0o555


@pytest.mark.parametrize("lto", ["-flto", "-flto=thin"])
def test_inputs_that_are_all_bitcode(tmp_path, lto):
    """The objects of the C library tell what is linked; without any, there is no note."""
    o = compile_text(tmp_path, "a.c", "int main(void) { return 0; }", lto, compiler="clang")
    report = tmp_path / "report.json"
    profile = write_profile(tmp_path, "main")
    link(tmp_path / "out", o, lto, f"-Wl,--front-report={report}", profile=profile)
    check_note(tmp_path / "out", report)
    ld(o, "-o", tmp_path / "bare", "-e", "main", f"--startup-profile={profile}")
    assert front_notes(tmp_path / "bare") == []
