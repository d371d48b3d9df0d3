"""Prefetch lists: their format, how they are recorded, and what frontload-run makes of them."""

import json
import os
import re
import signal
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from abilities import needs
from compiled import compile_to
from frontload.base.errors import BadData
from frontload.pagecache import cache as pagecache
from frontload.reading import listing
from frontload.reading import record as recording
from frontload.reading.listing import BOTH, MAP, PAGE, READ, File, PrefetchList, Range, Touch
from hypothesis import given
from hypothesis import strategies as st
from process_1 import process_1

A, B = File("/a b", 100 * PAGE, 5_000_000_007, "c0ffee"), File("/b\n\x01", 3 * PAGE + 7, 0)
HEAD = b"frontload-files 1\nruns 1\n"
FILE = b"file\t/a\t8200\t1.000000000\t-\n"
touches = st.builds(Touch, st.integers(0, 9), st.integers(1, 3), st.sampled_from([MAP, READ, BOTH]))
lists = st.builds(PrefetchList, st.integers(1, 4), st.fixed_dictionaries({}, optional={
    A: st.dictionaries(st.integers(0, 99), touches, min_size=1),
    B: st.dictionaries(st.integers(0, 3), touches, min_size=1)}))
lists |= st.builds(lambda each, digit, learns: PrefetchList(each.runs, each.pages, {
    file: digit * 64 for file in each.pages if file == B}, learns), lists, st.sampled_from("ab"),
                   st.booleans())


def merged(*parts: PrefetchList) -> PrefetchList:
    found = PrefetchList()
    for part in parts:
        assert not found.add(part)
    return found


@given(lists, lists, lists)
def test_lists_merge_in_any_order(a, b, c):
    """Also in steps, so that any number of machines can share the work. A list is what was written;
    names may hold anything."""
    expected = merged(a, b, c)
    data = listing.to_bytes(expected)
    assert listing.parse(data, "list") == expected
    assert listing.to_bytes(merged(c, a, b)) == data
    assert listing.to_bytes(merged(a, merged(c, b))) == data


WRITTEN = listing.to_bytes(PrefetchList(2, {
    A: {0: Touch(3, 1, MAP), 1: Touch(4, 1, MAP), 9: Touch(0, 2, READ)},
    B: {3: Touch(7, 1, BOTH)}}))


@given(st.integers(0, len(WRITTEN)), st.integers(0, 30),
       st.binary(max_size=12) | st.text("0123456789+-\t\n\\filemapx", max_size=12).map(str.encode))
def test_any_damage_is_told_or_harmless(position, size, replacement):
    """What is read can be written again."""
    with suppress(BadData):
        listing.to_bytes(listing.parse(
            WRITTEN[:position] + replacement + WRITTEN[position + size:], "list"))


def test_a_list_of_few_bytes_takes_no_gigabytes(monkeypatch):
    """A range may say that it is as long as one likes, and there may be many."""
    assert listing._MOST_PAGES <= 1 << 20
    monkeypatch.setattr(listing, "_MOST_PAGES", 6)
    full = HEAD + (b"file\t/a\t%d\t1.000000000\t-\n\t0+12288\t0\t1\tmap\n"
                   b"\t20480+12288\t0\t1\tmap\n" % 10**17)
    assert listing.parse(full, "list").size() == 6 * PAGE
    for more in (4096, 1 << 50):
        with pytest.raises(BadData, match="more pages than a start touches"):
            listing.parse(full + b"\t40960+%d\t0\t1\tmap\n" % more, "list")


def test_of_a_file_that_has_changed_the_newer_is_kept():
    newer = File(A.path, 50 * PAGE, A.changed_ns + 1)
    for one, other in ((A, newer), (newer, A)):
        found = PrefetchList(1, {one: {0: Touch(0, 1, MAP)}})
        assert found.add(PrefetchList(1, {other: {1: Touch(0, 1, MAP)}})) == [A]
        assert found.pages == {newer: {0 if one == newer else 1: Touch(0, 1, MAP)}}


def test_probes_are_spread_over_what_is_touched():
    """By first touch; a list of few pages has no more of them."""
    pages = {page: Touch(page, 1, MAP) for page in range(64)}
    found = listing.probes(PrefetchList(1, {A: pages}))
    assert found == [(A.path, (4 + 8 * number) * PAGE) for number in range(8)]
    assert listing.probes(PrefetchList(1, {A: {7: pages[7]}})) == [(A.path, 7 * PAGE)]
    assert listing.probes(PrefetchList(1)) == []


def test_pages_that_follow_each_other_are_one_range():
    """As long as their order does, too."""
    pages = {page: Touch(rank, runs, MAP) for page, rank, runs in (
        (3, 7, 1), (4, 8, 1), (5, 4, 1), (6, 5, 2), (9, 6, 2))}
    assert list(PrefetchList(1, {A: pages}).ranges(A)) == [
        Range(begin * PAGE, end * PAGE, pages[begin])
        for begin, end in ((3, 5), (5, 6), (6, 7), (9, 10))]


@pytest.mark.parametrize(("data", "said"), [
    (b"", "is no prefetch list"), (b"frontload-files 2\n", "is no prefetch list of version 1"),
    (b"frontload-files 1\n" + FILE, "how many runs"), (HEAD + FILE + b"\t0+4096", "was cut"),
    (HEAD + FILE + FILE, "the same file again"),
    (HEAD + b"file\ta\t1\t1.000000000\t-\n", "absolute"),
    (HEAD + b"file\t/\\q\t1\t1.000000000\t-\n", "backslash"),
    (HEAD + FILE + b"\t0+4096\t0\t1\tsmell\n", "neither"),
    *((HEAD + FILE + b"\t%s\t0\t1\tmap\n" % place, "is not in order")
      for place in (b"1+4096", b"0+12288", b"0+4000", b"0+0")),
    (HEAD + FILE + b"\t4096+4096\t0\t1\tmap\n\t0+4096\t0\t1\tmap\n", "is not in order")])
def test_what_is_no_list(data, said):
    with pytest.raises(BadData, match=said):
        listing.parse(data, "list")


def test_the_verb(cli, tmp_path):
    """Folders and files; the same bytes in any order; as JSON, too."""
    (tmp_path / "lists").mkdir()
    one, other = tmp_path / "lists/a.files", tmp_path / "b.files"
    one.write_bytes(listing.to_bytes(PrefetchList(1, {A: {0: Touch(0, 1, MAP)}})))
    other.write_bytes(listing.to_bytes(PrefetchList(2, {A: {0: Touch(3, 2, READ)}})))
    first = cli("files", tmp_path / "lists", other).out
    assert first == cli("files", other, one).out and "\t0+4096\t0\t3\tboth\n" in first
    assert '"rank": 0' in cli("files", one, "--json", "-").out
    one.unlink()
    assert "has no prefetch list" in cli("files", tmp_path / "lists", code=2).err


def test_an_image_builder_has_a_range_a_line(cli, tmp_path):
    """In the order of first touch, over all files. A new list has a new name."""
    for number in (1, 2):
        path = recording.write(PrefetchList(1, {A: {3: Touch(4, 1, MAP), 9: Touch(0, 1, MAP)},
                                               B: {0: Touch(1, 1, READ)}}), "/bin/app", tmp_path)
        assert path.name == f"app.{number}.files"
    lines = cli("files", path, "--json-lines", "-").out.splitlines()
    assert [tuple(json.loads(line).values()) for line in lines] == [
        (A.path, 9 * PAGE, PAGE, 0), (B.path, 0, PAGE, 1), (A.path, 3 * PAGE, PAGE, 4)]


PROGRAM = r"""
    #include <fcntl.h>
    #include <sys/mman.h>
    #include <unistd.h>
    int main(int argc, char **argv) {
      static char buffer[4096];
      int mapped = open(argv[1], O_RDONLY), read_from = open(argv[2], O_RDONLY);
      volatile const char *data = mmap(0, 400 * 4096, PROT_READ, MAP_SHARED, mapped, 0);
      int sum = data[300 * 4096] + data[7 * 4096 + 9] + data[8 * 4096];
      sum += pread(read_from, buffer, 4096, 20 * 4096) + pread(read_from, buffer, 10, 5 * 4096);
      return argc > 3 ? 3 : sum < 0;
    }"""


def made(folder: Path) -> list[Path]:
    """Files of 400 pages each."""
    paths = [folder / "mapped", folder / "a b"]
    for path in paths:
        path.write_bytes(os.urandom(400 * PAGE))
    return paths


@pytest.fixture
def files(tmp_path) -> list[Path]:
    return made(tmp_path)


def check_recorded(path: Path, mapped: Path, read: Path) -> dict[str, dict[int, Touch]]:
    """The pages of each file, of which PROGRAM's are recorded one by one, and in order."""
    pages = {file.path: each for file, each in listing.read(path).pages.items()}
    in_order = sorted((touch.rank, page) for each in (mapped, read)
                      for page, touch in pages[str(each)].items())
    assert [page for _, page in in_order] == [300, 7, 8, 20, 5]
    assert {touch.how for touch in pages[str(read)].values()} == {READ}
    # As far as the command needs it, not only what perf, which needs it too, has left.
    assert len(next(each for path, each in pages.items() if "libc.so" in path)) > 30
    return pages


@needs("lazy-files", "strace", "tmp-on-disk")
def test_what_a_start_touches_is_recorded_to_the_page(frontload, files, tmp_path):
    """By mapping and by read(2), in order; the command's status is told."""
    program = compile_to(tmp_path / "app", "gcc", "-O1", "app.c", sources={"app.c": PROGRAM})
    frontload("record", "--all-files", "-o", tmp_path / "lists", "--", program, *files, "fail",
              code=3)
    pages = check_recorded(tmp_path / "lists/app.1.files", *files)
    assert {touch.how for touch in pages[str(files[0])].values()} == {MAP}
    assert str(program) in pages


AS_NOBODY = """
    mknod fuse c 10 229
    chmod $MODE fuse
    mount --bind fuse /dev/fuse
    rm fuse
    exec setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=$PWD TMPDIR=$PWD/tmp "$@"
"""


@needs("another-user", "mounts")
def test_a_user_records_as_root_does(build):
    """The kind of a file tells how it was touched. Who cannot is told why."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        folder, temporary = Path(name), Path(name, "tmp")
        temporary.mkdir()
        for each in (folder, temporary):
            each.chmod(0o777)
        program = compile_to(folder / "app", "gcc", "-O1", "app.c", sources={"app.c": PROGRAM})
        files = made(folder)

        def recorded(mode):
            return subprocess.run(
                ["unshare", "--mount", "--propagation=private", "sh", "-ec", AS_NOBODY, "sh",
                 build / "bin/frontload", "record", "--all-files", "-o", "lists", "--", program,
                 *files, "fail"], cwd=folder, capture_output=True, text=True,
                env={**os.environ, "MODE": mode})

        cannot, result = recorded("600"), recorded("666")
        assert cannot.returncode == 2
        assert "without root, files cannot be recorded here: /dev/fuse" in cannot.stderr
        if "without root, files cannot be recorded here" in result.stderr:
            pytest.skip(result.stderr)
        assert result.returncode == 3, result.stderr
        pages = check_recorded(folder / "lists/app.1.files", *files)
        # The kernel reads the header by itself.
        assert {touch.how for page, touch in pages[str(program)].items() if page} == {MAP}
        assert list(temporary.iterdir()) == []


def test_a_log_of_reads_may_have_anything():
    """Lines that are of no known file are left out; nothing is read behind a file's end."""
    files = {b"a b": (A, True), b"b\n": (B, False)}
    log = b"0 4096 a b\n8192 8192 a b\n0 4096 a b\n12288 4096 b\n\nx\n 1 2\n0 1 other\n99999 1 a b"
    found = recording._made(log, files)
    assert {page: touch.rank for page, touch in found.pages[A].items()} == {0: 0, 2: 1, 3: 2,
                                                                            24: 3}
    assert B not in found.pages  # a newline in its name
    small = File("/c", PAGE + 1, 0), False
    assert recording._made(b"4096 99999 a b", {b"a b": small}).size() == 1


def listed(path: Path, *ranges: tuple[int, int]) -> dict[File, dict[int, Touch]]:
    status = path.stat()
    return {File(str(path), status.st_size, status.st_mtime_ns): {
        page: Touch(page, 1, MAP) for begin, end in ranges for page in range(begin, end)}}


@pytest.fixture
def replay(build, files, strace, tmp_path):
    """replay(list, *options): runs `true` with the list after the files were evicted; which pages
    of each file are then asked for, and what frontload-run said."""
    def replay(contents: PrefetchList | bytes, *options, command=("true",), prefix=()):
        path, log = tmp_path / "app.files", tmp_path / "calls"
        path.write_bytes(contents if isinstance(contents, bytes) else listing.to_bytes(contents))
        pagecache.make_cold(*files)
        # strace ends with the process that asks. Looks, but that at the list, would begin reads.
        result = subprocess.run(
            [strace, "-f", "-y", "-o", log, "-etrace=readahead,preadv2,mincore,openat,clone",
             "-einject=preadv2:error=EAGAIN:when=2+", "-einject=mincore:error=ENOSYS", *prefix,
             build / "bin/frontload-run", "--verbose", f"--files={path}", *options, "--", *command],
            capture_output=True, text=True)
        asked = [set() for _ in files]
        for name, *place in re.findall(r"readahead\(\d+<(.*)>, (\d+), (\d+)", log.read_text()):
            begin, size = (int(number) // PAGE for number in place)
            asked[files.index(Path(name))].update(range(begin, begin + size))
        return asked, result
    return replay


@needs("tmp-on-disk")
def test_what_the_list_names_is_asked_for(replay, files):
    """With small gaps, which are cheaper than a request; nothing else."""
    (mapped, read), result = replay(PrefetchList(1, {
        **listed(files[0], (10, 12), (14, 15), (200, 220)), **listed(files[1], (399, 400))}),
        "--device=lazy")
    assert mapped == {*range(10, 15), *range(200, 220)} and read == {399}
    assert "0 files have changed" in result.stderr
    (mapped, _), _ = replay(PrefetchList(1, listed(files[0], (10, 12), (50, 51))), "--device=hdd")
    assert mapped == set(range(10, 51))


def shorten(path):
    """With its time as it was."""
    status = path.stat()
    os.truncate(path, 11 * PAGE)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


@needs("tmp-on-disk")
@pytest.mark.parametrize("change", [os.utime, shorten])
def test_what_is_not_the_file_of_the_list_is_left_alone(replay, files, tmp_path, change):
    """It has changed, or is no regular file: a pipe would make us wait, a terminal become ours.
    Those behind it are asked for, and the command is as ever."""
    os.mkfifo(tmp_path / "pipe")
    names = ["/dev/null", str(tmp_path / "pipe"), str(tmp_path), "/none"]
    contents = {File(name, PAGE, 0): {0: Touch(0, 1, MAP)} for name in names} | listed(
        files[0], (10, 12)) | listed(files[1], (3, 4))
    change(files[0])
    (mapped, read), result = replay(PrefetchList(1, contents), command=("sh", "-c", "exit 7"))
    assert (mapped, read, result.returncode) == (set(), {3}, 7)
    assert "1 files have changed" in result.stderr and "4 cannot be read" in result.stderr
    calls = (tmp_path / "calls").read_text()
    assert not [name for name in names if re.search(rf'openat.*"{name}".*O_NONBLOCK', calls)]


@needs("tmp-on-disk")
@pytest.mark.parametrize("prefix", [
    (), pytest.param(("unshare", "--pid", "--fork"), marks=needs("pid-namespace"))],
    ids=["any process", "process 1"])
def test_the_command_has_no_child_that_it_does_not_know(replay, files, prefix):
    """Orphans are the children of process 1 of a container, so that asks itself."""
    script = ("import os\nprint(os.getpid() == 1)\ntry: os.waitpid(-1, 0)\n"
              "except ChildProcessError: print('none')")
    (mapped, _), result = replay(PrefetchList(1, listed(files[0], (1, 2))),
                                 command=("python3", "-c", script), prefix=prefix)
    assert result.stdout == f"{bool(prefix)}\nnone\n" and mapped == {1}


@needs("tmp-on-disk", "pid-namespace")
@pytest.mark.parametrize("reaps", [True, False])
def test_no_zombie_stays(reaps, replay, files, tmp_path):
    """A process 1 that does not look after orphans, as a container's may not, gets none."""
    (mapped, _), result = replay(PrefetchList(1, listed(files[0], (1, 2))), prefix=process_1(reaps))
    assert mapped == {1} and "left:" not in result.stderr
    assert ("flags=0" in (tmp_path / "calls").read_text()) == reaps


@needs("pid-namespace")
def test_what_is_in_memory_costs_no_process(build, strace, run, files, tmp_path):
    """Some places of the list tell. A list that names none is asked for."""
    path = tmp_path / "app.files"

    def calls(mincore: str, without: bytes) -> list[str]:
        data = listing.to_bytes(PrefetchList(1, listed(files[0], (1, 40), (60, 90))))
        path.write_bytes(b"".join(line for line in data.splitlines(keepends=True)
                                  if not line.startswith(without)))
        run(*process_1(True), strace, "-o", tmp_path / "calls",
            "-einject=preadv2:retval=1:when=2+",
            f"-einject=mincore:poke_exit=@arg3={mincore}", build / "bin/frontload-run",
            f"--files={path}", "--", "/bin/true")
        lines = (tmp_path / "calls").read_text().split("execve(")[1].splitlines()
        return [line.partition("(")[0] for line in lines[1:]]

    warm = calls("01", b"\0")
    assert warm.count("preadv2") == 1 + 7 and warm.count("mincore") == 1
    assert "clone" not in warm and len(warm) < 40
    cold = calls("00", b"\0")
    assert cold.count("clone") == 1 and cold.count("preadv2") == 1
    assert "clone" in calls("01", b"probe")


@needs("tmp-on-disk")
@pytest.mark.parametrize(("contents", "said"), [
    (b"", "is no prefetch list"), (HEAD + FILE + b"\t0+1", "was cut"),
    (HEAD + FILE + b"\t9999+1\t0\t1\tmap\n", ":4: a range that cannot be"),
    (HEAD + b"file\tx\n", ":3: a file that cannot be")])
def test_a_bad_list_is_said_and_the_command_runs(replay, contents, said):
    _, result = replay(contents, command=("sh", "-c", "exit 7"))
    assert said in result.stderr and result.returncode == 7


@needs("pid-namespace")
def test_who_reads_the_output_does_not_wait_for_the_reads(build, strace, spawn, tmp_path):
    """What the command writes ends with the command, while its list is still being gone through.
    The process that does so is stopped here as it begins."""
    path, over = tmp_path / "app.files", tmp_path / "over"
    path.write_bytes(HEAD + FILE)
    os.mkfifo(over)
    process = spawn(*process_1(True), strace, "-f", "-o", tmp_path / "calls",
                    "-etrace=close_range", "-einject=close_range:signal=STOP", "sh", "-c",
                    '"$0" "--files=$1" -- echo said | cat >"$2"', build / "bin/frontload-run",
                    path, over, start_new_session=True)
    assert over.read_text() == "said\n"
    os.killpg(process.pid, signal.SIGCONT)
    assert process.wait() == 0  # it comes to an end, too
    assert "SIGSTOP" in (tmp_path / "calls").read_text()


@pytest.mark.parametrize(("name", "said"), [
    ("pipe", "is not a regular file"), ("link", "No such file or directory")])
def test_a_list_that_is_not_there(run, build, tmp_path, name, said):
    """It is told in one line, and the command is what it is without."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("nowhere")
    result = run(build / "bin/frontload-run", f"--files={tmp_path}/{name}", "--",
                 "sh", "-c", "echo $0 $#; exit 7", "named", "twice", code=7)
    assert result.stdout == "named 1\n"
    assert result.stderr == f"frontload-run: warning: {tmp_path}/{name}: {said}\n"
