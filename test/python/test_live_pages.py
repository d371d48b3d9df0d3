"""What a process that runs has touched, seen from outside."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from abilities import needs
from frontload.recording import live_pages


@pytest.fixture
def waiting(spawn):
    """waiting(program): `cat` in a loop that it has gone through twice, so that it touches no more
    pages while it waits for its input."""

    def waiting(program="cat"):
        process = spawn(program, stdin=subprocess.PIPE)
        for _ in range(2):
            process.stdin.write("more\n")
            process.stdin.flush()
            process.stdout.readline()
        return process

    return waiting


def pages(process) -> dict[str, list[int]]:
    return {module.path: touched.tolist() for module, touched in live_pages.touched(process.pid)}


def main_module(process):
    return next(module for module, _ in live_pages.touched(process.pid) if module.main)


def test_the_program_and_its_libraries(waiting, monkeypatch):
    """Each file that code is loaded from."""
    process = waiting()
    main = main_module(process)
    assert os.path.samefile(main.path, f"/proc/{process.pid}/exe") and main.build_id
    found = live_pages.touched(process.pid)
    assert any("libc" in module.name for module, _ in found)
    assert all(touched.size for _, touched in found)
    # Pages of the file, not of the mapping: a library's data, which lies last in it, was relocated.
    scanned = pages(process)
    lines = Path(f"/proc/{process.pid}/maps").read_text().splitlines()
    for path, touched in scanned.items():
        last = max(int(line.split()[2], 16) for line in lines if line.endswith(path))
        size = os.path.getsize(path)
        assert last <= max(touched) * live_pages._PAGE < size + live_pages._PAGE
    # Before Linux 6.7 the kernel scans nothing, and is asked page by page.
    monkeypatch.setattr(live_pages, "_SCAN", 0x5401)
    assert pages(process) == scanned


MAPPING = """
import mmap, os, sys
maps = [mmap.mmap(os.open(path, os.O_RDONLY), 0, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC)
        for path in sys.argv[1:]]
assert all(each[0] for each in maps)
print(flush=True)
sys.stdin.read()
"""


@needs("loop-devices", "program:mkfs.btrfs")
def test_files_of_one_number(spawn, quota, run):
    """Files in two subvolumes of btrfs, which the mappings tell apart by their paths alone."""
    folder, files = quota(10000), []
    for name in ("true", "false"):
        run("btrfs", "subvolume", "create", folder / name)
        files.append(Path(shutil.copy(shutil.which(name), folder / name)))
    assert len({path.stat().st_ino for path in files}) == 1
    process = spawn(sys.executable, "-c", MAPPING, *files, stdin=subprocess.PIPE)
    process.stdout.readline()
    build_ids = {module.path: module.build_id for module, _ in live_pages.touched(process.pid)}
    assert len({build_ids.get(str(path)) for path in files} - {None}) == 2


def test_a_program_that_was_replaced(waiting, tmp_path):
    """It keeps its path, which the kernel puts a mark behind."""
    program = Path(shutil.copy(shutil.which("cat"), tmp_path))
    process = waiting(program)
    program.unlink()
    main = main_module(process)
    assert main.path == str(program) and main.build_id


def test_processes(waiting, spawn):
    """Below one are its children, and theirs. Of one that has ended there is nothing to see."""
    process = waiting()
    assert process.pid in live_pages.below(os.getpid())
    assert live_pages.below(process.pid) == []
    ended = spawn("true")
    ended.wait()
    assert live_pages.touched(ended.pid) == []
