"""What a process that runs has touched, seen from outside."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from frontload.recording import live_pages


@pytest.fixture
def sleeper():
    """A process that does nothing any more."""
    process = subprocess.Popen(["sh", "-c", "echo; exec sleep 1000"], stdout=subprocess.PIPE)
    process.stdout.readline()
    for _ in range(1000):  # until it sleeps in its system call
        of_process = Path(f"/proc/{process.pid}")
        if (of_process / "cmdline").read_bytes().startswith(b"sleep") and \
                "S (sleeping)" in (of_process / "status").read_text():
            break
        time.sleep(0.01)
    yield process
    process.kill()
    process.communicate()


MAPPING = """
import mmap, os, sys
maps = [mmap.mmap(os.open(path, os.O_RDONLY), 0, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC)
        for path in sys.argv[1:]]
assert all(each[0] for each in maps)
print(flush=True)
sys.stdin.read()
"""


def pages(found):
    return {module.path: touched.pages.tolist()
            for module, touched in zip(found.modules, found.touched, strict=True)}


def test_the_program_and_its_libraries(sleeper):
    """Each file that code is loaded from, the program first among them; in windows, because nobody
    has registered it with userfaultfd."""
    found = live_pages.sample(sleeper.pid, 11, True, "tester")
    assert os.path.samefile(found.main.path, f"/proc/{sleeper.pid}/exe") and found.main.build_id
    assert any("libc" in module.name for module in found.modules)
    assert all(each.pages.size and not each.exact for each in found.touched)
    assert (found.pid, found.run, found.forked, found.role) == (sleeper.pid, 11, True, "tester")


def test_pages_are_those_of_the_file(sleeper):
    """Not of the mapping: a library's data, which lies last in it, was relocated."""
    lines = Path(f"/proc/{sleeper.pid}/maps").read_text().splitlines()
    for path, touched in pages(live_pages.sample(sleeper.pid, 1, False, "")).items():
        last = max(int(line.split()[2], 16) for line in lines if line.endswith(path))
        size = os.path.getsize(path)
        assert last <= max(touched) * live_pages._PAGE < size + live_pages._PAGE


def test_page_by_page_it_is_the_same(sleeper, monkeypatch):
    """Before Linux 6.7 the kernel scans nothing."""
    scanned = pages(live_pages.sample(sleeper.pid, 1, False, ""))
    monkeypatch.setattr(live_pages, "_SCAN", 0x5401)
    assert pages(live_pages.sample(sleeper.pid, 1, False, "")) == scanned


def test_files_of_one_number(spawn, quota, run):
    """Files in two subvolumes of btrfs, which the mappings tell apart by their paths alone."""
    folder, files = quota(10000), []
    for name in ("true", "false"):
        run("btrfs", "subvolume", "create", folder / name)
        files.append(Path(shutil.copy(shutil.which(name), folder / name)))
    assert len({path.stat().st_ino for path in files}) == 1
    process = spawn(sys.executable, "-c", MAPPING, *files, stdin=subprocess.PIPE)
    process.stdout.readline()
    found = live_pages.sample(process.pid, 1, False, "")
    build_ids = {module.path: module.build_id for module in found.modules}
    assert len({build_ids.get(str(path)) for path in files} - {None}) == 2


def test_a_program_that_was_replaced(spawn, tmp_path):
    """It keeps its path, which the kernel puts a mark behind."""
    program = Path(shutil.copy(shutil.which("cat"), tmp_path))
    process = spawn(program, stdin=subprocess.PIPE)
    process.stdin.write("started\n")
    process.stdin.flush()
    process.stdout.readline()
    program.unlink()
    found = live_pages.sample(process.pid, 1, False, "")
    assert found.main.path == str(program) and found.main.build_id


def test_a_process_that_has_ended():
    """There is nothing to see any more."""
    process = subprocess.Popen(["true"])
    process.wait()
    assert live_pages.sample(process.pid, 1, False, "") is None


def test_all_that_a_process_has_started(sleeper):
    """Its children, and theirs."""
    assert sleeper.pid in live_pages.below(os.getpid())
    assert live_pages.below(sleeper.pid) == []
