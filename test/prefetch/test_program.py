"""A program that prefetches its own front when it starts: that it does, when it does not, and that
nobody notices."""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import noted
import pytest
from frontload.pagecache import cache as pagecache
from noted import PT_NOTE

DENY = Path(__file__).parents[1] / "runtime" / "programs" / "deny.c"
SYS = {"fstat": 5, "pread64": 17, "readahead": 187, "preadv2": 327}
EPERM, ENOSYS, EOPNOTSUPP = 1, 38, 95


def test_the_front_is_resident_before_main(program, prefetched):
    """All of the front is in memory once main() runs, and with the note removed hardly any."""
    made = program()
    assert prefetched(made) > noted.NEARLY_ALL
    made.write(b"")
    assert prefetched(made) < noted.HARDLY


def test_nothing_behind_the_front_is_asked_for(program, calls):
    """The requests cover the front, no more and no less: in pieces of a MiB, and again in pieces of
    128 KiB, for devices that read no more at once."""
    made = program()
    pagecache.make_cold(made.path)
    asked = [tuple(map(int, re.search(r"readahead\(\d+, (\d+), (\d+)\)", line).groups()))
             for line in calls(made) if "readahead(" in line]
    end = noted.front_offset(made.path, made.end)
    large = [(offset, min(1 << 20, end - offset)) for offset in range(0, end, 1 << 20)]
    small = [(offset, min(1 << 17, end - offset)) for offset in range(0, end, 1 << 17)]
    assert sorted(asked) == sorted({*large, *(part for part in small if part[0] % (1 << 20))})


@pytest.mark.parametrize("position", ["first", "last"])
def test_the_library_is_relocated_before_the_program(linked, library, run, position):
    """Wherever it stands among the needed libraries the prefetcher is relocated before the program;
    as the last of them also before the others."""
    own = ["-Wl,--no-as-needed", library, f"-Wl,-rpath,{library.parent}"]
    others = ["-Wl,--no-as-needed", "-lm", "-lstdc++"]
    path = linked(*(own + others if position == "first" else others + own))
    environment = os.environ | {"LD_DEBUG": "reloc", "LD_BIND_NOW": "1"}
    text = run(path, code=7, env=environment, stdin=subprocess.DEVNULL).stderr
    order = [Path(name).name for name in re.findall(r"relocation processing: (\S+)", text)]
    at = order.index("libfrontload-prefetch.so.1")
    assert at < order.index("program")
    before = [name for name in order[:at] if name.startswith(("libm.", "libstdc++."))]
    assert len(before) == (2 if position == "first" else 0)


@pytest.mark.parametrize("flags", [["-static"], ["-static-pie"]], ids=["static", "static-pie"])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_a_static_program(program, prefetched, archive, compiler, flags):
    """With the archive a program without a dynamic linker does the same; unused sections may be
    collected in the link."""
    linker = "-fuse-ld=lld" if compiler == "clang" else "-fuse-ld=bfd"
    made = program(*flags, "-Wl,-u,frontload_prefetch_at_start", archive, "-Wl,--gc-sections",
                   linker, compiler=compiler)
    assert prefetched(made) > noted.NEARLY_ALL


WRONG_NOTES = {
    "none": lambda start, end: b"",
    "version": lambda start, end: noted.note([end], version=2),
    "type": lambda start, end: noted.note([end], kind=2),
    "name": lambda start, end: noted.note([end], name=b"Frontlood\0"),
    "name size": lambda start, end: noted.note([end], name=b"Frontload"),
    "no tiers": lambda start, end: noted.note([], count=0),
    "too many tiers": lambda start, end: noted.note([start + i for i in range(9)]),
    "more tiers than fit": lambda start, end: noted.note([end], count=2),
    "fewer tiers than fit": lambda start, end: noted.note([start, end], count=1),
    "huge count": lambda start, end: noted.note([end], count=0x20000000),
    "huge descriptor": lambda start, end: noted.note([end], size=0xffffffff),
    "huge name": lambda start, end: b"\xff" * 4 + noted.note([end])[4:],
    "outside of the file": lambda start, end: noted.note([end + (1 << 40)]),
    "last address": lambda start, end: noted.note([(1 << 64) - 1]),
    "address 0": lambda start, end: noted.note([0]),
    "descending": lambda start, end: noted.note([end, start]),
    "twice the same": lambda start, end: noted.note([end, end]),
}


@pytest.mark.parametrize("wrong", WRONG_NOTES)
def test_a_wrong_note_is_no_note(program, calls, wrong):
    """A note that is missing, hostile, or of another version: the program runs, and nothing is
    asked for."""
    made = program()
    made.write(WRONG_NOTES[wrong](made.start, made.end))
    pagecache.make_cold(made.path)
    seen = calls(made)
    assert seen and not any("readahead(" in line for line in seen)


def test_all_tiers_are_prefetched(program, prefetched):
    """The front goes to the end of the last of as many as eight tiers."""
    made = program()
    made.write(noted.note([made.start + (i << 20) for i in range(1, 8)] + [made.end]))
    assert prefetched(made) > noted.NEARLY_ALL


def test_a_note_elsewhere_in_the_file(program, prefetched):
    """Where a tool has moved the note, it is found by its program header."""
    made = program(copy=True)
    data = noted.note([made.end])
    made.write(b"")
    with open(made.path, "ab") as file:
        offset = file.seek(0, os.SEEK_END) + 3 & ~3
        file.truncate(offset)
    noted.patch(made.path, offset, data)
    noted.change_header(made.path, PT_NOTE, offset=offset, filesz=len(data), align=4)
    assert prefetched(made) > noted.NEARLY_ALL


def test_a_resident_front_is_left_alone(program, calls):
    """Warm, it costs a constant number of system calls, none of which asks for anything."""
    made = program()
    pagecache.make_warm(made.path)
    own = calls(made)
    last = next(i for i, line in enumerate(own) if line.startswith("preadv2(")) + 16
    names = [line.partition("(")[0] for line in own[:last + 1]]
    assert names == ["openat", "read", "close", "openat", "fstat", "pread64", *["preadv2"] * 16,
                     "close"]
    assert not any("readahead(" in line for line in own)


def test_leaves_no_trace_in_the_program(program, started):
    """main() finds errno 0 and no descriptor more than it was given, from cold and warm."""
    made = program()
    pagecache.make_cold(made.path)
    for _ in range(2):
        with started(made.path) as process:
            assert process.lines == ["errno 0, open 0 1 2\n"]


def test_closed_standard_descriptors(program, started):
    """A program started with 0, 1 and 2 closed still has them closed, and its front."""
    made = program()
    pagecache.make_cold(made.path)
    out = made.path.with_name("out")
    command = f"exec {made.path} 3<&0 <&- 2>&- >{out}"
    subprocess.run(["sh", "-c", command], stdin=subprocess.DEVNULL, check=False)
    assert out.read_text() == "errno 0, open 1 3\n"
    assert noted.resident(made.path, noted.front_offset(made.path, made.end)) > noted.NEARLY_ALL


@pytest.fixture
def deny(tmp_path, run):
    """deny(call, errno): the command that runs a program in which this system call fails."""
    path = tmp_path / "deny"
    run("gcc", DENY, "-o", path)
    return lambda call, error, limit=1000: [path, str(SYS[call]), str(limit), str(error)]


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="numbers of x86-64's system calls")
@pytest.mark.parametrize("call, error, result", [
    ("fstat", EPERM, 0), ("readahead", EPERM, 0), ("readahead", ENOSYS, 0),
    ("preadv2", EPERM, 1), ("preadv2", EOPNOTSUPP, 1)])
def test_denied_system_calls(program, started, deny, call, error, result):
    """Where a filter denies what is needed, the program starts as ever; where the file system
    cannot tell what is resident, the front is asked for all the same."""
    made = program()
    pagecache.make_cold(made.path)
    with started(*deny(call, error), made.path) as process:
        assert process.lines == ["errno 0, open 0 1 2\n"]
        share = noted.resident(made.path, noted.front_offset(made.path, made.end))
    assert process.returncode == 7
    assert share > noted.NEARLY_ALL if result else share < noted.HARDLY


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="numbers of x86-64's system calls")
def test_open_denied(program, started, tmp_path, run, archive):
    """A program that may not open any file starts as ever."""
    deny = tmp_path / "deny"
    run("gcc", DENY, "-o", deny)
    made = program("-static", "-Wl,-u,frontload_prefetch_at_start", archive)
    pagecache.make_cold(made.path)
    with started(deny, "257", "0xffffffff", str(EPERM), made.path) as process:
        assert process.lines == ["errno 0, open 0 1 2\n"]
        assert noted.resident(made.path, noted.front_offset(made.path, made.end)) < noted.HARDLY


@pytest.mark.parametrize("how", ["set-user-id", "capability"])
def test_privileged_programs_prefetch_nothing(linked, library, started, how):
    """A set-user-id program, or one with file capabilities, prefetches nothing when another user
    runs it; the same file without these does, though the user does not own it."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("needs root, and setpriv")
    if how == "capability" and not shutil.which("setcap"):
        pytest.skip("needs setcap")
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        if os.statvfs(folder).f_flag & os.ST_NOSUID:
            pytest.skip(f"{folder} is mounted nosuid")
        own = shutil.copy(library, folder / "libfrontload-prefetch.so.1")
        path = folder / "program"
        shutil.copy(linked("-Wl,--no-as-needed", own, f"-Wl,-rpath,{folder}"), path)
        made = noted.Noted(path)
        made.write(noted.note([made.end]))
        shares = []
        for privileged in (False, True):
            path.chmod(0o4755 if privileged and how == "set-user-id" else 0o755)
            if privileged and how == "capability":
                subprocess.run(["setcap", "cap_net_raw+ep", path], check=True)
            pagecache.make_cold(path)
            with started("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                         path) as process:
                assert process.lines == ["errno 0, open 0 1 2\n"]
                shares.append(noted.resident(path, noted.front_offset(path, made.end)))
    assert shares[0] > noted.NEARLY_ALL and shares[1] < noted.HARDLY


TOOLS = [["strip"], ["llvm-strip"], ["eu-strip"], ["objcopy", "--strip-debug"],
         ["objcopy", "--strip-all", "--remove-section=.comment"]]


@pytest.mark.parametrize("tool", TOOLS, ids=" ".join)
def test_strip_keeps_the_note(program, prefetched, run, llvm, tool):
    """A program that was stripped, or went through objcopy, still prefetches its front."""
    command = [llvm / tool[0] if tool[0].startswith("llvm") else tool[0], *tool[1:]]
    if not shutil.which(command[0]):
        pytest.skip(f"needs {tool[0]}")
    made = program(copy=True)
    run(*command, made.path)
    assert prefetched(made) > noted.NEARLY_ALL


def test_by_preload(program, prefetched, library):
    """LD_PRELOAD does it for a program with a note that was not linked with the library."""
    made = program("-no-pie")
    assert prefetched(made) < noted.HARDLY
    assert prefetched(made, env=os.environ | {"LD_PRELOAD": str(library)}) > noted.NEARLY_ALL


def test_musl(tmp_path, archive, include, program, prefetched, run):
    """With musl, which knows no IFUNC, a constructor does it."""
    if not shutil.which("musl-gcc"):
        pytest.skip("needs musl-gcc (musl-tools)")
    sources = include.parents[1]
    flags = ["-O2", "-ffreestanding", "-fno-stack-protector", "-fno-tree-loop-distribute-patterns",
             "-D_GNU_SOURCE", "-fPIC", "-fvisibility=hidden"]
    files = sorted(file for room in ("base", "prefetch") for file in (sources / room).glob("*.c"))
    own = tmp_path / "libmusl-prefetch.so"
    run("musl-gcc", "-shared", "-nostdlib", *flags, f"-I{include}", f"-I{sources}",
        *files, "-Wl,-z,defs", "-o", own)
    made = program("-Wl,--no-as-needed", own, f"-Wl,-rpath,{tmp_path}", compiler="musl-gcc")
    assert prefetched(made) > noted.NEARLY_ALL
