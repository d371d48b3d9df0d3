"""frontload-run --learn: what a start touches becomes a list, which the next start asks for."""

import mmap
import os
import re
import shlex
import shutil
import stat
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from abilities import needs
from frontload.pagecache import cache
from frontload.reading import asked, listing
from noted import WARM
from process_1 import process_1

PAGE = mmap.PAGESIZE
AROUND = 16  # pages that the kernel maps around a touched one
BIG = 256  # pages

# Touches a page, reads a file and leaves it open, and ends when its list is new. The start is over
# when nothing new is mapped, so this waits for an event.
TOUCH = """
import mmap, os, sys, time
mapped, page, read, log = sys.argv[1:]
data = open(mapped, "rb")
pages = mmap.mmap(data.fileno(), 0, prot=mmap.PROT_READ)
pages[int(page) * mmap.PAGESIZE]
kept = open(read, "rb")
kept.read()
with open(log, "w") as written:
    written.write("x")
    written.flush()
    keep = open(log, "rb")
    keep.read()
    folder = os.environ["XDG_STATE_HOME"] + "/frontload"
    state = lambda: [(e.name, e.stat().st_mtime_ns) for e in os.scandir(folder)
                     if e.name.endswith(".files")]
    before = state()
    while state() == before: time.sleep(0.01)
"""


@pytest.fixture
def learn(build, run, tmp_path):
    """learn(*command): runs it with --learn, and waits until its start is learnt; returns the
    result."""
    (tmp_path / "state").mkdir()

    def learn(*command, options=("--verbose", "--learn"), prefix=(), **environment):
        environment = {"XDG_STATE_HOME": str(tmp_path / "state"), **environment}
        return run(*process_1(True), *prefix, build / "bin/frontload-run", *options, "--",
                   *map(str, command), env=os.environ | environment)

    return learn


@pytest.fixture
def lists(tmp_path):
    """The lists that are there by now."""
    return lambda: sorted((tmp_path / "state/frontload").glob("*.files"))


@pytest.fixture
def data(tmp_path):
    """data(path): a file of `BIG` pages. Files that change during a start are not learnt."""

    def data(name):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(os.urandom(BIG * PAGE))
        return path

    return data


def touched(path, file):
    """The pages of a file in a list, with their weights and how they were touched."""
    found = {each.path: pages for each, pages in listing.read(path).pages.items()}
    return {page: (touch.runs, touch.how) for page, touch in found.get(str(file), {}).items()}


@needs("pid-namespace")
def test_a_start_is_learnt(learn, lists, data, tmp_path, monkeypatch):
    """The list has the touched page, with those that the kernel maps around it, and the file that
    was read; not what the start itself writes, nor a home folder. Only the user may see it."""
    mapped, read, home = data("mapped"), data("read"), data("home/private")
    script = TOUCH.replace("kept =", f"hidden = open({str(home)!r}, 'rb')\nkept =")
    learn("python3", "-c", script, mapped, 100, read, tmp_path / "log", HOME=str(home.parent))
    (path,) = lists()
    pages = touched(path, mapped)
    assert 100 in pages and all(abs(page - 100) < AROUND for page in pages if page)
    assert set(pages.values()) == {(2, "map")}
    assert set(touched(path, read).values()) == {(2, "read")}
    text = path.read_text()
    assert str(tmp_path / "log") not in text and str(home) not in text
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    program = next(each.path for each in listing.read(path).pages if "/bin/python3" in each.path)
    (found,) = asked.by_learnt_list(str(Path(program).with_name("python3")))  # as check finds it
    assert found.list == str(path) and found.pages.size


@needs("pid-namespace")
def test_old_and_new_are_merged(learn, lists, data, tmp_path):
    """Touched pages gain weight up to 8. Others lose if the start was seen to its end, and leave at
    0. A file that is another one by now begins again. Damaged lines do no harm."""
    mapped, read, other = data("mapped"), data("read"), data("other")
    learn("python3", "-c", "pass")
    (path,) = lists()

    def file(each, size=BIG * PAGE):
        seconds, nanoseconds = divmod(each.stat().st_mtime_ns, 10**9)
        return f"file\t{each}\t{size}\t{seconds}.{nanoseconds:09}\t-\n"

    path.write_text(
        "frontload-files 1\nruns 9\n"
        + file(mapped) + f"\t{10 * PAGE}+{PAGE}\t0\t1\tmap\n\t{100 * PAGE}+{PAGE}\t1\t7\tmap\n"
        f"\t{101 * PAGE}+{PAGE}\t5\n\t{200 * PAGE}+{PAGE}\t2\t5\tmap\n"
        + file(other, size=PAGE) + f"\t0+{PAGE}\t3\t8\tmap\nfile\tnowhere\n\t0+{PAGE}\t3\t8\tmap\n")
    said = learn("python3", "-c", TOUCH, mapped, 100, read, tmp_path / "log").stderr
    assert listing.read(path).runs == 10
    pages, lost = touched(path, mapped), " at least, " not in said
    assert (10 in pages) != lost and pages[100] == (8, "map") and pages[200] == (5 - lost, "map")
    assert not touched(path, other) and "nowhere" not in path.read_text()


@needs("pid-namespace")
def test_it_follows_what_starts_do(learn, lists, data, tmp_path):
    """After three starts of another kind, the list has what those touch. Page faults tell the kinds
    apart."""
    mapped, read = data("mapped"), data("read")

    def start(page, megabytes):
        script = f"more = bytearray({megabytes << 20})\n{TOUCH}"
        learn("python3", "-c", script, mapped, page, read, tmp_path / "log")
        (path,) = lists()
        return touched(path, mapped)

    for page, megabytes in (30, 0), (200, 4), (200, 8), (200, 8):
        pages = start(page, megabytes)
    assert pages[200][0] >= 4
    for megabytes in range(12, 40, 4):  # a start that was not seen to its end takes no page away
        pages = pages if 30 not in pages else start(200, megabytes)
    assert 30 not in pages and 200 in pages


@needs("pid-namespace")
def test_a_start_like_earlier_ones_is_not_looked_at(learn, lists, data, tmp_path):
    """The list has the page faults of starts that it served, as it cannot serve the first. A start
    unlike them makes the next one be watched closely. So does a library that was upgraded,
    and each 32nd is, too."""
    mapped, read, starts, kinds = data("mapped"), data("read"), 0, ""
    while not kinds:  # until the kernel maps hardly any other pages around the touched ones
        learn("python3", "-c", TOUCH, mapped, 30, read, tmp_path / "log")
        (path,) = lists()
        header = r"frontload-files 1\nalike 00\n((?:start \d+ \d+\n)*)runs "
        kinds = re.match(header, path.read_text())[1]
        starts += 1
        assert starts < 9
    assert starts > 1 and kinds.count("\n") == 1
    faults = "import resource\nprint(resource.getrusage(resource.RUSAGE_SELF).ru_minflt)"
    text = re.sub("(alike 00\n).*?(?=runs)", r"\1", path.read_text(), flags=re.S)

    def start(alike, kind, text=text):
        """How a start was, and how many were alike since the list was written."""
        path.write_text(text.replace("alike 00\n", f"alike {alike:02}\nstart {kind} 0\n"))
        said = learn("python3", "-c", faults)
        how = re.search(r"was (\w+) earlier ones", said.stderr)
        return int(said.stdout), how and how[1], int(re.search(r"alike (\d+)", path.read_text())[1])

    known, *closely = start(31, 1)
    assert closely == [None, 0]
    assert start(30, known)[1:] == ("like", 31)
    assert start(0, 2 * known)[1:] == start(0, known // 2)[1:] == ("unlike", 31)
    upgraded = re.sub(r"(/lib[^\t]*\t\d+\t)\d+", r"\g<1>1", text)
    assert upgraded != text and start(0, known, upgraded)[1:] == (None, 0)


@needs("pid-namespace")
def test_the_build_id_tells_a_file(learn, lists, tmp_path):
    """With another time but the same build-id it keeps its pages, listed with that time; with
    another build-id it begins again."""
    program = Path(shutil.copy("/bin/true", tmp_path / "program"))

    def start(changed):
        os.utime(program, (changed, changed))
        learn(program)
        (path,) = lists()
        ((file, pages),) = ((each, pages) for each, pages in listing.read(path).pages.items()
                            if each.path == str(program))
        assert file.changed_ns == changed * 10**9 and file.build_id
        path.write_text(path.read_text().replace(file.build_id, build_id or file.build_id))
        return pages[0].runs

    build_id = None
    assert [start(changed=1), start(changed=2)] == [2, 4]
    build_id = "c0de" * 10
    assert [start(changed=3), start(changed=4)] == [6, 2]


@needs("pid-namespace")
def test_two_starts_at_once(learn, lists, data, tmp_path):
    """One of them is learnt, or both; no list is broken, and nothing is left beside it."""
    read = data("read")

    def start(number):
        learn("python3", "-c", TOUCH, data(f"mapped{number}"), 100, read, tmp_path / f"log{number}")

    with ThreadPoolExecutor() as threads:
        list(threads.map(start, range(2)))
    (path,) = lists()
    found = [bool(touched(path, tmp_path / f"mapped{number}")) for number in range(2)]
    assert any(found) and listing.read(path).runs == sum(found)
    assert list(path.parent.iterdir()) == [path]


@needs("pid-namespace")
def test_the_next_start_asks_for_it(learn, lists):
    """For all files of the list; a list that is damaged is named, and replaced."""
    learn("true")
    (path,) = lists()
    os.utime(path, (0, 0))
    assert re.search(r"of [1-9]\d* files are asked for", learn("true").stderr)  # a slow start: more
    for damaged in (b"", b"frontload-files 2\n", b"\0" * 1000, b"frontload-files 1\nfile\t/\n",
                    b"frontload-files 1\n\t0+4096\t0\t1\tread\n",
                    b"frontload-files 1\n" + b"x" * (1 << 20),
                    b"frontload-files 1\n" + b"alike 1\n" * (1 << 20)):
        path.write_bytes(damaged)
        learn("true")
        assert listing.read(path).runs == 1


@needs("pid-namespace")
def test_the_list_is_asked_for_once(learn, lists, strace, tmp_path):
    """By one process; another one learns."""
    log, program = tmp_path / "calls", Path(shutil.copy("/bin/true", tmp_path / "program"))
    learn(program, options=["--learn"])
    (path,) = lists()
    os.utime(path, (0, 0))
    trace = (strace, "-f", "-o", log, "-etrace=prctl,preadv2", "-einject=preadv2:error=EAGAIN")
    learn(program, options=["--learn"], prefix=trace)
    named = re.findall(r'PR_SET_NAME, "frontload-(\w+)"', log.read_text())
    assert sorted(named) == ["learn", "list"]


@needs("pid-namespace", "eviction")
def test_pages_that_were_touched_at_the_end(learn, lists, tmp_path):
    """They are in the page cache, though the process has no page table any more."""
    mapped, every = tmp_path / "mapped", 8
    mapped.write_bytes(os.urandom(BIG * every * PAGE))

    def resident():
        return {page for first, count in cache.residency(mapped).runs()
                for page in range(first, first + count)}

    learn("python3", "-c", "pass")
    (path,) = lists()
    seconds, nanoseconds = divmod(mapped.stat().st_mtime_ns, 10**9)
    path.write_text(f"frontload-files 1\nruns 9\nfile\t{mapped}\t{BIG * every * PAGE}\t{seconds}."
                    f"{nanoseconds:09}\t-\n\t{4 * PAGE}+{PAGE}\t0\t7\tmap\n")
    cache.try_to_drop(mapped)
    kept = resident()  # a machine under load may hold on to a page
    script = f"""
import mmap, os
pages = mmap.mmap(os.open({str(mapped)!r}, os.O_RDONLY), 0, prot=mmap.PROT_READ)
pages.madvise(mmap.MADV_RANDOM)
for page in range(0, {BIG * every}, {every}): pages[page * mmap.PAGESIZE]
os._exit(0)  # all of it is still mapped"""
    learn("python3", "-c", script, options=["--verbose", "--device=lazy", "--learn"])
    assert resident() - kept - {4} <= touched(path, mapped).keys()


@needs("pid-namespace")
def test_a_warm_start_is_no_process_more(learn, lists, strace, tmp_path):
    """While the list is fresh and in memory; after ten minutes, a start is learnt again."""
    log, program = tmp_path / "calls", Path(shutil.copy("/bin/true", tmp_path / "program"))
    trace = (strace, "-f", "-o", log, "-etrace=process,mincore,preadv2,getrusage",
             *(f"-einject={each}" for each in WARM))

    def forks():
        learn(program, options=["--learn"], prefix=trace)
        calls = log.read_text()
        return "clone" in calls

    assert forks()
    assert not forks()
    (path,) = lists()
    os.utime(path, (path.stat().st_mtime - 700,) * 2)
    assert forks()
    assert not forks()


@needs("pid-namespace")
@pytest.mark.parametrize(("spoil", "said"), [
    (lambda folder: folder.chmod(0o770), "Operation not permitted"),
    (lambda folder: (folder.rename(folder.parent / "real"),
                     folder.symlink_to(folder.parent / "real")), "Operation not permitted"),
    (lambda folder: (folder.rmdir(), folder.write_text("")), "Operation not permitted"),
    (lambda folder: (folder.rmdir(), folder.parent.rmdir(), folder.parent.write_text("")),
     "Not a directory"),
    pytest.param(lambda folder: os.chown(folder, 1, 1), "Operation not permitted",
                 marks=needs("root"))], ids=["open", "link", "file", "no folder", "another user's"])
def test_a_folder_that_is_not_ours_is_left_alone(learn, tmp_path, spoil, said):
    """And the command runs."""
    folder = tmp_path / "state/frontload"
    folder.mkdir(mode=0o700)
    spoil(folder)
    result = learn("echo", "it runs")
    assert result.stdout == "it runs\n" and f"nothing can be learnt: {said}" in result.stderr
    assert not list(tmp_path.glob("state/*/*"))


@needs("pid-namespace", "mounts")
def test_a_full_disk_keeps_the_old_list(build, run, tmp_path):
    """And nothing is left beside it."""
    start = shlex.join([*process_1(True), str(build / "bin/frontload-run"), "--verbose", "--learn",
                        "--", "true"])
    result = run("unshare", "--mount", "sh", "-ec", f"""
        mount -t tmpfs -o size=32k,mode=700 none {tmp_path}
        cd {tmp_path}
        {start}
        cp frontload/*.files kept
        head -c 1M /dev/zero >full || touch -d @0 frontload/*
        {start}
        cmp frontload/*.files kept
        ls frontload""", env=os.environ | {"XDG_STATE_HOME": str(tmp_path)})
    assert re.fullmatch(r"true-[0-9a-f]{16}\.files\n", result.stdout)
    assert "cannot be learnt: No space left on device" in result.stderr


@needs("pid-namespace", "mounts")
def test_a_home_that_is_read_only(build, run, tmp_path):
    """The command runs, and is not watched."""
    start = shlex.join([*process_1(True), str(build / "bin/frontload-run"), "--verbose", "--learn",
                        "--", "echo", "it runs"])
    result = run("unshare", "--mount", "sh", "-ec",
                 f"mount -t tmpfs -o ro,mode=700 none {tmp_path}; {start}",
                 env=os.environ | {"XDG_STATE_HOME": str(tmp_path)})
    assert result.stdout == "it runs\n"
    assert "nothing can be learnt: Read-only file system" in result.stderr


@needs("pid-namespace")
def test_of_two_starts_one_writes(learn, lists):
    """A list that is being written is left to its writer, for a minute."""
    learn("true")
    (path,) = lists()
    before, new = path.read_bytes(), path.with_name(path.name + ".new")
    new.write_text("")
    os.utime(path, (0, 0))
    assert "cannot be learnt: File exists" in learn("true").stderr
    assert path.read_bytes() == before
    os.utime(new, (0, 0))
    learn("true")
    assert path.read_bytes() != before and not new.exists()


@needs("pid-namespace")
def test_forget(learn, lists, build, run, tmp_path):
    """The list of one program, or all."""
    environment = os.environ | {"XDG_STATE_HOME": str(tmp_path / "state")}
    for program in ("true", "false", "sh"):
        subprocess.run([*process_1(True), build / "bin/frontload-run", "--learn", program],
                       env=environment, stdin=subprocess.DEVNULL, check=False)
    assert [re.sub("-.*", "", path.name) for path in lists()] == ["false", "sh", "true"]
    run(build / "bin/frontload-run", "--forget", "true", env=environment)
    assert [re.sub("-.*", "", path.name) for path in lists()] == ["false", "sh"]
    for _ in range(2):
        run(build / "bin/frontload-run", "--forget", env=environment)
        assert not (tmp_path / "state/frontload").exists()


def test_what_is_watched_is_a_process(build):
    found = subprocess.run([build / "bin/frontload-run", "--watch=x", "echo"], text=True,
                           capture_output=True, check=False)
    assert (found.returncode, found.stdout) == (2, "")
    assert "takes the number of a process" in found.stderr


@needs("pid-namespace")
def test_the_newest_lists_stay(learn, lists, tmp_path):
    """There are at most 128."""
    learn("true")
    (path,) = lists()
    for number in range(150):
        other = path.with_name(f"app-{number:016}.files")
        other.write_text("")
        os.utime(other, (number, number))
    learn("sh", "-c", ":")
    assert len(lists()) == 128
    assert not path.with_name(f"app-{22:016}.files").exists()
    assert path.exists()


@needs("pid-namespace")
def test_the_command_has_no_child_that_it_does_not_know(learn, build, run, tmp_path):
    """And a process 1 that does not look after orphans gets none."""
    script = "import os\ntry: os.waitpid(-1, 0)\nexcept ChildProcessError: print('none')"
    assert learn("python3", "-c", script).stdout == "none\n"
    result = run(*process_1(False), build / "bin/frontload-run", "--verbose", "--learn", "true",
                 env=os.environ | {"XDG_STATE_HOME": str(tmp_path / "state")})
    assert "process 1" in result.stderr and "left:" not in result.stderr


@needs("pid-namespace")
def test_the_first_process_of_a_container(build, run, lists, data, tmp_path):
    """It is learnt, too, if it runs on after its start, and has no child that it does not know."""
    (tmp_path / "state").mkdir()
    mapped = data("mapped")
    script = TOUCH + "try: os.waitpid(-1, 0)\nexcept ChildProcessError: print('none')"
    result = run("unshare", "--pid", "--fork", "--mount-proc", build / "bin/frontload-run",
                 "--learn", "--", "python3", "-c", script, mapped, "100", data("read"),
                 tmp_path / "log", env=os.environ | {"XDG_STATE_HOME": str(tmp_path / "state")})
    assert result.stdout == "none\n"
    (path,) = lists()
    assert touched(path, mapped)[100] == (2, "map")
