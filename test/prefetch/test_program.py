"""A program that prefetches its own front when it starts: that it does, when it does not, and that
nobody notices."""

import os
import re
import shutil
import struct
import subprocess
import tempfile
from pathlib import Path

import noted
import pytest
from abilities import need, needs
from frontload.pagecache import cache as pagecache
from frontload.reading import listing
from frontload.reading.listing import MAP, File, PrefetchList, Touch
from noted import BLOCKS, COLD, MIB, PAGE, PT_NOTE, WARM, requests
from process_1 import process_1

NOBODY = "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"
# What main() says of errno and of its descriptors, if nothing has changed them.
UNTOUCHED = "errno 0, open 0 1 2\n"


def test_the_front_is_asked_for(program, asked, calls):
    """All of it, no more and no less, and main() finds no trace of that; without a note nothing."""
    made = program()
    assert asked(made) == made.pieces()
    assert calls.result.stdout == UNTOUCHED
    made.write(b"")
    assert asked(made) == []


def test_the_last_library_is_relocated_first(linked, library, run):
    """Before the others and the program."""
    path = linked("-Wl,--no-as-needed", "-lm", library, f"-Wl,-rpath,{library.parent}")
    environment = os.environ | {"LD_DEBUG": "reloc", "LD_BIND_NOW": "1"}
    text = run(path, code=7, env=environment, stdin=subprocess.DEVNULL).stderr
    order = [Path(name).name for name in re.findall(
        r"relocation processing: (.*?)(?: \(lazy\))?$", text, re.MULTILINE)]
    own, *others = map(order.index, ("libfrontload-prefetch.so.1", "libm.so.6", "program"))
    assert own < min(others)


@pytest.mark.parametrize(("kind", "linker"), [("-static", "bfd"), ("-static-pie", "lld")])
def test_a_static_program(program, asked, archive, llvm, kind, linker):
    """With the archive it does the same; unused sections may be collected in the link."""
    compiler = {"bfd": "gcc", "lld": str(llvm / "clang")}[linker]
    made = program(kind, "-Wl,-u,frontload_prefetch_at_start", archive, "-Wl,--gc-sections",
                   f"-fuse-ld={linker}", compiler=compiler)
    assert asked(made) == made.pieces()


WRONG_NOTES = {
    "newer version": lambda made: noted.note(made.ranges(), version=4),
    "older version": lambda made: noted.note(made.ranges(), version=2),
    "name": lambda made: noted.note(made.ranges(), name=b"Frontlood\0"),
    "blank": lambda made: noted.note([]),
    "more ranges than room": lambda made: noted.note(made.ranges(), size=24, count=2),
    "too many ranges": lambda made: noted.note(
        [(made.start + 9 * number, made.start + 9 * number + 9) for number in range(129)]),
    "all ranges": lambda made: noted.note(made.ranges(), count=(1 << 32) - 1),
    "huge name": lambda made: b"\xff" * 4 + noted.note(made.ranges())[4:],
    "outside of the file": lambda made: noted.note([(made.start, made.end + (1 << 40))]),
    "last address": lambda made: noted.note([(made.start, (1 << 64) - 1)]),
    "empty": lambda made: noted.note([(made.start, made.start)]),
    "descending": lambda made: noted.note([(made.end, made.start)]),
    "another size in the file": lambda made: noted.note([(made.start, made.loaded()[-1][1])]),
}


@pytest.mark.parametrize("wrong", WRONG_NOTES)
def test_a_wrong_note_is_no_note(program, asked, wrong):
    """Hostile, or of another version: the program runs, and nothing is asked for."""
    made = program()
    made.write(WRONG_NOTES[wrong](made))
    assert asked(made) == []


def test_ranges_are_asked_for_in_their_order(program, asked):
    """Without what lies between, unless that is less than a page; up to 128. What is in two ranges
    is asked for twice."""
    made = program()

    def asked_for(*spread, expected=None):
        ranges, merged = ([(made.start + int(begin * MIB), made.start + int(end * MIB))
                           for begin, end in each] for each in (spread, expected or spread))
        made.write(noted.note(ranges))
        return asked(made) == made.pieces(*merged)

    assert asked_for((9, 10), (2, 4), (5, 5.5), (5.5, 6), expected=[(9, 10), (2, 4), (5, 6)])
    assert asked_for((0, 2), (1, 3))
    assert asked_for(*((number / 16, number / 16 + 1 / 32) for number in range(noted.MOST_RANGES)))


def test_a_note_behind_others(program, asked):
    """A blank note is passed over, and so is one that the next does not follow by the alignment of
    its segment."""
    made = program()
    made.write(noted.note([], room=3) + struct.pack("<III", 4, 4, 99) + b"none" + bytes(4) +
               noted.note(made.ranges()))
    assert asked(made) == made.pieces()


def test_a_small_front_is_asked_for_without_a_look(program, calls):
    """A look at a page that is missing would cost a request; up to 1 MiB it saves nothing."""
    made = program()
    for size, looked in ((MIB, False), (MIB + 1, True)):
        made.write(noted.note([(made.start, made.start + size)]))
        seen = calls(made.path)
        assert requests(seen, made.path) == made.pieces((made.start, made.start + size))
        assert any("preadv2(" in line for line in seen) == looked
        assert any("cgroup" in line for line in seen) == looked


def test_a_note_elsewhere_in_the_file(program, asked):
    """Where a tool has moved the note, it is found by its program header."""
    made = program(copy=True)
    data = noted.note(made.ranges())
    made.write(b"")
    with open(made.path, "ab") as file:
        offset = file.seek(0, os.SEEK_END) + 3 & ~3
        file.truncate(offset)
    noted.patch(made.path, offset, data)
    noted.change_header(made.path, PT_NOTE, offset=offset, filesz=len(data), align=4)
    assert asked(made) == made.pieces()


def test_a_resident_front_is_left_alone(program, calls):
    """Warm, it costs a constant number of system calls, none of which asks for anything."""
    seen = calls(program().path, inject=["preadv2:retval=1"])
    assert calls.result.stdout == UNTOUCHED
    names = [line.split(maxsplit=1)[1].partition("(")[0] for line in seen]
    first = next(i for i, line in enumerate(seen)
                 if re.search("/proc/self/auxv|PR_GET_AUXV|0x41555856", line))
    looks = ["openat", "fstat", "pread64", "getrusage", "preadv2", "getrusage",
             *["preadv2"] * 15, "getrusage", "close"]
    at = names.index("preadv2") - 4
    assert names[at:at + len(looks)] == looks and "readahead" not in names
    # Before Linux 6.4, the auxiliary vector is in a file.
    assert names[first:at] in (["prctl"], ["prctl", "openat", "read", "close"])


@pytest.mark.parametrize(("resident", "user", "known"), [("01", (), True), ("00", (), True),
                                                         ("01", NOBODY, False)])
def test_where_reads_that_do_not_wait_are_refused(program, asked, calls, open_folder, resident,
                                                  user, known):
    """As on overlayfs: of its own files, a mapping tells a user."""
    if user:
        need("another-user")
    made = open_folder()
    seen = calls(*user, made.path, inject=["preadv2:error=EOPNOTSUPP",
                                           f"mincore:poke_exit=@arg3={resident}"])
    is_left_alone = known and resident == "01"
    assert requests(seen, made.path) == ([] if is_left_alone else made.pieces())
    assert any("mincore(" in line for line in seen) == known


def test_closed_standard_descriptors(program, asked, tmp_path):
    """A program started with 0, 1 and 2 closed still has them closed, and its front."""
    made = program()
    assert asked(made, "sh", "-c", 'exec "$0" 3<&0 <&- 2>&- >out', made.path, cwd=tmp_path,
                 code=None) == made.pieces()
    assert (tmp_path / "out").read_text() == "errno 0, open 1 3\n"


@pytest.mark.parametrize(("inject", "count"), [
    (["openat:error=EPERM"], 0), (["fstat:error=EPERM"], 0),
    ([*COLD, "readahead:error=EPERM"], 1), (["preadv2,getrusage:error=EPERM"], None),
    (["preadv2:error=EOPNOTSUPP", "mincore:error=EPERM"], None)], ids=str)
def test_denied_system_calls(program, asked, calls, archive, inject, count):
    """The program starts as ever; where nothing tells what is resident, all is asked for."""
    made = program("-static", "-Wl,-u,frontload_prefetch_at_start", archive)
    found = asked(made, inject=inject, only=["openat", "fstat", "getrusage"])
    assert found == made.pieces()[:count]
    assert calls.result.stdout == UNTOUCHED


# From the second look on: a number of blocks that was not there at the first.
READ_MEANWHILE = f"getrusage:when=2+:poke_exit=@arg2={BLOCKS}"


def test_a_disk_as_quick_as_memory(program, calls):
    """That a page could be read at once does not say that it was there: the front is asked for."""
    made = program()
    seen = calls(made.path, inject=["preadv2:retval=1", READ_MEANWHILE])
    assert requests(seen, made.path) == made.pieces()


@pytest.fixture
def open_folder(linked, library):
    """open_folder(): a program that prefetches itself, in a folder that everybody may enter."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)

        def made() -> noted.Noted:
            own = shutil.copy(library, folder / "libfrontload-prefetch.so.1")
            path = shutil.copy(linked("-Wl,--no-as-needed", own, f"-Wl,-rpath,{name}"), folder)
            return noted.Noted(Path(path)).write_ranges()

        yield made


@needs("another-user")
@pytest.mark.parametrize("how", ["set-user-id", pytest.param("capability",
                                                             marks=needs("capabilities"))])
def test_privileged_programs_prefetch_nothing(open_folder, asked, how):
    """Set-user-id or capable ones, of another user; without that the same file does."""
    made = open_folder()
    if os.statvfs(made.path).f_flag & os.ST_NOSUID:
        pytest.skip(f"{made.path.parent} is mounted nosuid")
    assert asked(made, *NOBODY, made.path) == made.pieces()
    if how == "set-user-id":
        made.path.chmod(0o4755)
    else:
        subprocess.run(["setcap", "cap_net_raw+ep", made.path], check=True)
    assert asked(made, *NOBODY, made.path) == []


def test_by_preload(program, asked, library, preloadable):
    """LD_PRELOAD does it for a program with a note that was not linked with the library."""
    made = program("-no-pie")
    assert asked(made) == []
    assert asked(made, "env", f"LD_PRELOAD={preloadable(library)}", made.path) == made.pieces()


@needs("program:musl-gcc")
@pytest.mark.parametrize("kind", ["-pie", "-static"])
def test_musl(program, asked, archive, kind):
    """musl calls no IFUNC's resolver, and loads nothing with one: a constructor does it."""
    made = program(kind, "-Wl,-u,frontload_prefetch_before_main", archive, "-Wl,--gc-sections",
                   compiler="musl-gcc")
    assert asked(made) == made.pieces()


OF_LISTED = noted.pieces(20 * PAGE, 50 * PAGE)


def list_of(made):
    return made.path.with_name(made.path.name + ".files")


@pytest.fixture
def listed(program, tmp_path):
    """A program with a list beside it of pages of the file `other`, which is cold."""
    made, path = program(copy=True), tmp_path / "other"
    path.write_bytes(os.urandom(100 * PAGE))
    pagecache.make_cold(path)
    status = path.stat()
    list_of(made).write_bytes(listing.to_bytes(PrefetchList(1, {
        File(str(path), status.st_size, status.st_mtime_ns): {
            page: Touch(page, 1, MAP) for page in range(20, 50)}})))
    return made


@needs("tmp-on-disk", "pid-namespace")
@pytest.mark.parametrize("front", [True, False])
def test_a_list_beside_the_program_is_asked_for(listed, calls, tmp_path, front):
    """Besides its front, or without one; main() finds no child, no descriptor and no errno."""
    if not front:
        listed.write(b"")
    seen = calls(listed.path, prefix=process_1(True))
    assert requests(seen, listed.path) == (listed.pieces() if front else [])
    assert requests(seen, tmp_path / "other") == OF_LISTED
    assert calls.result.stdout == UNTOUCHED
    # Its only child, which was waited for, has had one that does the work.
    assert noted.awaits_its_child(seen)


@needs("tmp-on-disk", "pid-namespace")
@pytest.mark.parametrize("was_read", [False, True])
def test_a_list_that_seems_to_be_in_memory(listed, calls, tmp_path, was_read):
    """It makes no process, but not if blocks were read to find that out."""
    listed.write(b"")
    seen = calls(listed.path, inject=["mincore:poke_exit=@arg3=01", "preadv2:retval=1:when=2+",
                                      *[READ_MEANWHILE] * was_read], prefix=process_1(True))
    assert any("openat(" in line and ".files" in line for line in seen)
    assert any("clone(" in line for line in seen) == was_read
    assert requests(seen, tmp_path / "other") == (OF_LISTED if was_read else [])


@pytest.mark.parametrize("contents", [
    None, b"", b"frontload-files 1\n", b"frontload-files 1\nprobe 1 /\nprobe 9 \\xgg\n",
    b"\xff" * 9999])
def test_a_list_that_is_none_does_no_harm(program, run, contents):
    """The program does what it does without, and says nothing."""
    made = program(copy=True)
    os.mkfifo(list_of(made)) if contents is None else list_of(made).write_bytes(contents)
    result = run(made.path, code=7, stdin=subprocess.DEVNULL)
    assert (result.stdout, result.stderr) == (UNTOUCHED, "")


@pytest.fixture
def learning(listed, calls, build, tmp_path):
    """learning(): a start of `listed`, whose list says that it learns: its system calls."""
    beside = list_of(listed)
    itself = listing.read(beside)
    itself.learns = True
    beside.write_bytes(listing.to_bytes(itself))
    (tmp_path / "state").mkdir()

    def start(path=f"{build}/bin:{os.environ['PATH']}", **options):
        return calls(listed.path, prefix=process_1(True), **options, env=os.environ | {
            "PATH": path, "XDG_STATE_HOME": str(tmp_path / "state")})

    return start


@needs("tmp-on-disk", "pid-namespace")
def test_a_program_that_learns(learning, listed, calls, tmp_path):
    """frontload-run watches its start. The next cold start asks for the front, then for what was
    learnt, and not for the list beside the program; main() finds no trace of that."""
    seen = learning()
    assert requests(seen, tmp_path / "other") == OF_LISTED
    (learnt,) = (tmp_path / "state/frontload").glob("program-*.files")
    assert str(listed.path) in [file.path for file in listing.read(learnt).pages]
    cold = tmp_path / "learnt"
    cold.write_bytes(os.urandom(9 * PAGE))
    pagecache.make_cold(cold)
    learnt.write_bytes(listing.to_bytes(PrefetchList(1, {
        File(str(cold), 9 * PAGE, cold.stat().st_mtime_ns): {5: Touch(0, 1, MAP)}})))
    seen = learning()
    assert requests(seen, listed.path) == listed.pieces()
    assert requests(seen, cold) == [(5 * PAGE, PAGE)]
    assert not requests(seen, tmp_path / "other")
    asked = [line for line in seen if "readahead(" in line]
    assert str(cold) in asked[-1] and str(listed.path) in asked[0]
    assert calls.result.stdout == UNTOUCHED
    assert listing.read(learnt).runs == 2


@needs("tmp-on-disk", "pid-namespace")
def test_a_warm_program_learns_seldom(learning, tmp_path):
    """Once in ten minutes; never without frontload-run, or where nothing can be written."""
    learning()
    (learnt,) = (tmp_path / "state/frontload").glob("*.files")
    learnt.write_text(re.sub("(?m)^probe .*other\n", "", learnt.read_text()))

    def watches(**options):
        return any("--watch=" in line for line in learning(inject=WARM, **options))

    assert not watches()
    os.utime(learnt, (0, 0))
    assert not watches(path=os.environ["PATH"])
    assert watches()
    learnt.parent.rename(tmp_path / "elsewhere")
    (tmp_path / "state").chmod(0o700)
    (tmp_path / "state").rmdir()
    (tmp_path / "state").write_text("")
    assert not watches()
