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
from frontload.reading import listing
from frontload.reading.listing import MAP, File, ReadingList, Touch
from noted import PT_NOTE

DENY = Path(__file__).parents[1] / "runtime" / "programs" / "deny.c"
SYS = dict(zip(("fstat", "openat", "pread64", "readahead", "preadv2", "getrusage"), {
    "x86_64": (5, 257, 17, 187, 327, 98),
    "aarch64": (80, 56, 67, 213, 286, 165)}[os.uname().machine], strict=True))
MIB = 1 << 20
LARGE, SMALL, SMALLEST_PAGE = MIB, 128 << 10, 4096
EPERM, ENOSYS, EOPNOTSUPP = 1, 38, 95


def requests(lines) -> list[tuple[int, int]]:
    """The offset and size of each readahead(2) among system calls."""
    found = (re.search(r"readahead\(\d+, (\d+), (\d+)\)", line) for line in lines)
    return [(int(match[1]), int(match[2])) for match in found if match]


def pieces(begin, end) -> list[tuple[int, int]]:
    """How a range is to be asked for: from the start of its page, in large pieces, each of them
    again in small ones, but for its beginning."""
    begin = begin // SMALLEST_PAGE * SMALLEST_PAGE
    return [piece for large in range(begin, end, LARGE)
            for piece in [(large, min(LARGE, end - large)),
                          *((small, min(SMALL, end - small))
                            for small in range(large + SMALL, min(large + LARGE, end), SMALL))]]


def test_the_front_is_resident_before_main(program, prefetched):
    """All of the front is in memory once main() runs, and with the note removed hardly any."""
    made = program()
    assert prefetched(made) == 1
    made.write(b"")
    assert prefetched(made) < noted.HARDLY


def test_nothing_behind_the_front_is_asked_for(program, calls):
    """The requests cover the front, no more and no less: in pieces of a MiB, and again in pieces of
    128 KiB, for devices that read no more at once."""
    made = program()
    pagecache.make_cold(made.path)
    asked = requests(calls(made))
    assert asked == pieces(0, noted.front_offset(made.path, made.end))


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
    assert prefetched(made) == 1


def outside(made, address):
    """A note whose second range has no place in the file."""
    return noted.note([(made.start, made.end), (address, address + 8)])


WRONG_NOTES = {
    "none": lambda made: b"",
    "newer version": lambda made: noted.note(made.ranges(), version=3),
    "type": lambda made: noted.note(made.ranges(), kind=2),
    "name": lambda made: noted.note(made.ranges(), name=b"Frontlood\0"),
    "name size": lambda made: noted.note(made.ranges(), name=b"Frontload"),
    "no ranges": lambda made: noted.note([]),
    "too many ranges": lambda made: noted.note(made.ranges(), count=17),
    "huge count": lambda made: noted.note(made.ranges(), count=0x20000000),
    "no room": lambda made: noted.note(made.ranges(), size=8 + 16 * 15),
    "more room": lambda made: noted.note(made.ranges(), size=8 + 16 * 17) + bytes(16),
    "huge descriptor": lambda made: noted.note(made.ranges(), size=0xffffffff),
    "huge name": lambda made: b"\xff" * 4 + noted.note(made.ranges())[4:],
    "outside of the file": lambda made: outside(made, made.end + (1 << 40)),
    "last address": lambda made: outside(made, (1 << 64) - 9),
    "end outside of the file": lambda made: noted.note([(made.start, made.end + (1 << 40))]),
    "empty": lambda made: noted.note([(made.start, made.start)]),
    "descending": lambda made: noted.note([(made.end, made.start)]),
    "twice the same": lambda made: noted.note([(made.start, made.end)] * 2),
    "overlapping": lambda made: noted.note([(made.start + 9, made.end),
                                            (made.start, made.start + 10)]),
    "another size in the file": lambda made: noted.note([(made.start, made.loaded()[-1][1])]),
    "tiers: none": lambda made: noted.tiers([]),
    "tiers: too many": lambda made: noted.tiers([made.start + i for i in range(9)]),
    "tiers: more than fit": lambda made: noted.tiers([made.end], count=2),
    "tiers: fewer than fit": lambda made: noted.tiers([made.start, made.end], count=1),
    "tiers: outside of the file": lambda made: noted.tiers([made.end + (1 << 40)]),
    "tiers: address 0": lambda made: noted.tiers([0]),
    "tiers: descending": lambda made: noted.tiers([made.end, made.start]),
    "tiers: twice the same": lambda made: noted.tiers([made.end, made.end]),
    "tiers in the newer version": lambda made: noted.tiers([made.end], version=2),
    "ranges in the older version": lambda made: noted.note(made.ranges(), version=1),
}


@pytest.mark.parametrize("wrong", WRONG_NOTES)
def test_a_wrong_note_is_no_note(program, calls, wrong):
    """A note that is missing, hostile, or of another version: the program runs, and nothing is
    asked for."""
    made = program()
    made.write(WRONG_NOTES[wrong](made))
    pagecache.make_cold(made.path)
    seen = calls(made)
    assert seen and not any("readahead(" in line for line in seen)


def test_ranges_are_asked_for_in_their_order(program, calls):
    """The note's order is the order of the requests; what lies between two ranges is not asked for,
    unless that is less than a page."""
    made = program()
    spread = [(9, 10), (2, 4), (5, 5.5), (5.5, 6)]
    made.write(noted.note([(made.start + int(begin * MIB), made.start + int(end * MIB))
                           for begin, end in spread]))
    pagecache.make_cold(made.path)
    start = noted.front_offset(made.path, made.start)
    assert requests(calls(made)) == [
        request for begin, end in ((9, 10), (2, 4), (5, 6))
        for request in pieces(start + begin * MIB, start + end * MIB)]


def test_as_many_ranges_as_there_may_be(program, prefetched):
    """All of sixteen ranges are read."""
    made = program()
    ranges = [(made.start + 2 * i * MIB, made.start + (2 * i + 1) * MIB) for i in range(16)]
    made.write(noted.note(ranges))
    assert prefetched(made, ranges=ranges) == 1


def test_a_small_front_is_asked_for_without_a_look(program, calls):
    """A look at a page that is missing would cost a request; up to 1 MiB it saves nothing."""
    made = program()
    # In the middle: the first faults of the start can read up to 8 MiB around them, and then a look
    # finds what it looks for.
    middle = (made.start + made.end) // 2
    start = noted.front_offset(made.path, middle)
    for size, looked in ((MIB, False), (MIB + 1, True)):
        made.write(noted.note([(middle, middle + size)]))
        pagecache.make_cold(made.path)
        seen = calls(made)
        assert requests(seen) == pieces(start, start + size)
        last = [i for i, line in enumerate(seen) if "readahead(" in line][-1]
        assert any(line.startswith("preadv2(") for line in seen[:last]) == looked
        assert any("cgroup" in line for line in seen[:last]) == looked


def test_all_tiers_are_prefetched(program, prefetched):
    """In a note of version 1 the front goes to the end of the last of as many as eight tiers."""
    made = program()
    made.write(noted.tiers([made.start + i * MIB for i in range(1, 8)] + [made.end]))
    assert prefetched(made) == 1


def test_a_note_elsewhere_in_the_file(program, prefetched):
    """Where a tool has moved the note, it is found by its program header."""
    made = program(copy=True)
    data = noted.note(made.ranges())
    made.write(b"")
    with open(made.path, "ab") as file:
        offset = file.seek(0, os.SEEK_END) + 3 & ~3
        file.truncate(offset)
    noted.patch(made.path, offset, data)
    noted.change_header(made.path, PT_NOTE, offset=offset, filesz=len(data), align=4)
    assert prefetched(made) == 1


def test_a_resident_front_is_left_alone(program, calls):
    """Warm, it costs a constant number of system calls, none of which asks for anything."""
    made = program()
    pagecache.make_warm(made.path)
    own = calls(made)
    last = next(i for i, line in enumerate(own) if line.startswith("preadv2(")) + 18
    names = [line.partition("(")[0] for line in own[:last + 1]]
    looks = ["openat", "fstat", "pread64", "getrusage", "preadv2", "getrusage",
             *["preadv2"] * 15, "getrusage", "close"]
    assert names[-len(looks):] == looks
    # Before Linux 6.4, the auxiliary vector is in a file.
    assert names[:-len(looks)] in (["prctl"], ["prctl", "openat", "read", "close"])
    assert not any("readahead(" in line for line in own)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, for a mount")
@pytest.mark.parametrize("user, asks", [("", False), ("setpriv --reuid=65534", True)])
def test_on_overlayfs(linked, library, strace, user, asks):
    """Reads that do not wait are refused there; of its own files, a mapping tells a user."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        for each in ("lower", "upper", "work", "merged"):
            (folder / each).mkdir()
        own = shutil.copy(library, folder / "lower/libfrontload-prefetch.so.1")
        path = folder / "lower/program"
        shutil.copy(linked("-Wl,--no-as-needed", own, "-Wl,-rpath,$ORIGIN"), path)
        made = noted.Noted(path)
        made.write(noted.note(made.ranges()))
        command = ("mount -t overlay overlay -o lowerdir=lower,upperdir=upper,workdir=work merged "
                   "&& cat merged/program >/dev/null "
                   f"&& exec {strace} -o calls {user} merged/program </dev/null")
        for _ in range(3):  # the kernel may page out what was just read
            result = subprocess.run(["unshare", "--mount", "--propagation=private", "sh", "-c",
                                     command], cwd=folder, capture_output=True, text=True)
            if "mount:" in result.stderr:
                pytest.skip(result.stderr)
            seen = (folder / "calls").read_text()
            assert result.returncode == 7 and "EOPNOTSUPP" in seen
            found = "mincore(" in seen, "readahead(" in seen
            if found == (not asks, asks):
                return
        assert found == (not asks, asks)


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
    out = made.path.with_name("out")
    command = f"exec {made.path} 3<&0 <&- 2>&- >{out}"
    pagecache.make_cold(made.path)
    subprocess.run(["sh", "-c", command], stdin=subprocess.DEVNULL, check=False)
    assert out.read_text() == "errno 0, open 1 3\n"
    assert noted.share_read(made.path, noted.front_offset(made.path, made.end)) == 1


@pytest.fixture
def deny(tmp_path, run):
    """deny(call, errno): the command that runs a program in which this system call fails."""
    path = tmp_path / "deny"
    run("gcc", DENY, "-o", path)
    return lambda call, error, limit=1000: [path, str(SYS[call]), str(limit), str(error)]


@pytest.mark.parametrize("call, error, result", [
    ("fstat", EPERM, 0), ("readahead", EPERM, 0), ("readahead", ENOSYS, 0),
    ("preadv2", EPERM, 1), ("preadv2", EOPNOTSUPP, 1), ("getrusage", EPERM, 1)])
def test_denied_system_calls(program, prefetched, deny, call, error, result):
    """Where a filter denies what is needed, the program starts as ever; where the file system
    cannot tell what is resident, the front is asked for all the same."""
    made = program()
    share = prefetched(made, [*deny(call, error), made.path])
    assert share == 1 if result else share < noted.HARDLY


@pytest.fixture
def quick_disk(tmp_path, run) -> Path:
    """What runs a program on a disk that is as quick as memory."""
    path = tmp_path / "quick_disk"
    run("gcc", Path(__file__).parent / "programs" / "quick_disk.c", "-o", path)
    return path


def test_a_disk_as_quick_as_memory(program, prefetched, quick_disk):
    """That a page could be read at once does not say that it was there: the front is asked for."""
    made = program()
    assert prefetched(made, [quick_disk, made.path]) == 1


def test_a_list_on_a_disk_as_quick_as_memory(program, run, quick_disk, tmp_path):
    """The same of what is listed, of which the first page that is looked at is there."""
    made = program(copy=True)
    other, expected = tmp_path / "other", list(range(20, 50))
    first = listed_beside(made, other)[0][1]
    pagecache.make_cold(other)
    with other.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
        os.pread(file.fileno(), 1, first)
    run(quick_disk, made.path, code=7, stdin=subprocess.DEVNULL)
    assert noted.numbers_read(other, expected) == expected


def test_open_denied(program, started, deny, archive):
    """A program that may not open any file starts as ever."""
    made = program("-static", "-Wl,-u,frontload_prefetch_at_start", archive)
    pagecache.make_cold(made.path)
    with started(*deny("openat", EPERM, limit=0xffffffff), made.path) as process:
        assert process.lines == ["errno 0, open 0 1 2\n"]
        assert noted.share_read(made.path, noted.front_offset(made.path, made.end)) < noted.HARDLY


@pytest.mark.parametrize("how", ["set-user-id", "capability"])
def test_privileged_programs_prefetch_nothing(linked, library, prefetched, how):
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
        made.write(noted.note(made.ranges()))
        shares = []
        for privileged in (False, True):
            path.chmod(0o4755 if privileged and how == "set-user-id" else 0o755)
            if privileged and how == "capability":
                subprocess.run(["setcap", "cap_net_raw+ep", path], check=True)
            shares.append(prefetched(made, ["setpriv", "--reuid=65534", "--regid=65534",
                                            "--clear-groups", path]))
    assert shares[0] == 1 and shares[1] < noted.HARDLY


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
    assert prefetched(made) == 1


def test_by_preload(program, prefetched, library):
    """LD_PRELOAD does it for a program with a note that was not linked with the library."""
    made = program("-no-pie")
    assert prefetched(made) < noted.HARDLY
    assert prefetched(made, env=os.environ | {"LD_PRELOAD": str(library)}) == 1


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
    assert prefetched(made) == 1


def list_of(made):
    return made.path.with_name(made.path.name + ".files")


def listed_beside(made, *others):
    """A list beside the program, of 30 pages of each of these files, which it makes; and where it
    is looked at."""
    pages = {}
    for number, other in enumerate(others):
        other.write_bytes(os.urandom(100 * SMALLEST_PAGE))
        status = other.stat()
        pages[File(str(other), status.st_size, status.st_mtime_ns)] = {
            page: Touch(100 * number + page, 1, MAP) for page in range(20, 50)}
    made_list = ReadingList(1, pages)
    list_of(made).write_bytes(listing.to_bytes(made_list))
    return listing.probes(made_list)


@pytest.mark.parametrize("front", [True, False])
def test_a_list_beside_the_program_is_asked_for(program, started, tmp_path, front):
    """Besides its front, or without one; main() finds no child, no descriptor and no errno."""
    made = program(copy=True)
    if not front:
        made.write(b"")
    other, expected = tmp_path / "other", list(range(20, 50))
    listed_beside(made, other)
    pagecache.make_cold(made.path, other)
    with started(made.path) as process:
        assert process.lines == ["errno 0, open 0 1 2\n"]
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
        read = noted.numbers_read(other, expected)
    assert (process.returncode, children, read) == (7, "", expected)


def test_a_list_in_memory_makes_no_process(program, calls, tmp_path):
    made = program(copy=True)
    other = tmp_path / "other"
    listed_beside(made, other)
    for file in (made.path, other):
        pagecache.make_warm(file)
    seen = calls(made)
    assert any(line.startswith("openat") and ".files" in line for line in seen)
    assert not any(line.startswith("clone") for line in seen)


@pytest.mark.parametrize("contents", [
    b"", b"frontload-files 1\n", b"frontload-files 1\nprobe",
    b"frontload-files 1\nprobe 1 /\nprobe 9 \\xgg\n", b"\xff" * 9999])
def test_a_list_that_is_none_does_no_harm(program, started, contents):
    made = program(copy=True)
    list_of(made).write_bytes(contents)
    with started(made.path) as process:
        assert process.lines == ["errno 0, open 0 1 2\n"]
    assert process.returncode == 7


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, lambda path: path.symlink_to("nowhere")],
                         ids=["folder", "pipe", "dangling link"])
def test_no_list_but_something_of_its_name(program, run, make):
    """The program does what it does without, and says nothing."""
    made = program(copy=True)
    make(list_of(made))
    result = run(made.path, code=7, stdin=subprocess.DEVNULL)
    assert (result.stdout, result.stderr) == ("errno 0, open 0 1 2\n", "")


@pytest.mark.parametrize("change", [
    Path.unlink, os.utime, lambda path: os.truncate(path, 30 * SMALLEST_PAGE),
    lambda path: path.rename(path.with_name("old")) and path.mkdir(),
    lambda path: path.rename(path.with_name("old")) and os.mkfifo(path)],
    ids=["gone", "newer", "shorter", "folder", "pipe"])
def test_a_listed_file_that_is_another_now(program, run, tmp_path, change):
    """It is left alone, those behind it are asked for, and the program does what it ever does."""
    made = program(copy=True)
    changed, other, expected = tmp_path / "changed", tmp_path / "other", list(range(20, 50))
    listed_beside(made, changed, other)
    change(changed)
    cold = [path for path in (changed, tmp_path / "old", other) if path.is_file()]
    pagecache.make_cold(made.path, *cold)
    result = run(made.path, code=7, stdin=subprocess.DEVNULL)
    assert (result.stdout, result.stderr) == ("errno 0, open 0 1 2\n", "")
    assert noted.numbers_read(other, expected) == expected
    assert all(noted.numbers_read(path, []) == [] for path in cold if path != other)
