"""Where files lie on a device, and what a reading list makes of it."""

import errno
import os
import subprocess

import pytest
from frontload.base.errors import EXIT_OK
from frontload.reading import blocks, listing, planning
from frontload.reading.listing import MAP, PAGE, File, ReadingList, Touch


@pytest.fixture
def lying(tmp_path, monkeypatch):
    """lying(name=[(offset, bytes, place)...]...): files that lie there; None tells nothing."""
    def lying(**extents) -> ReadingList:
        found = {}
        touched = ReadingList(1)
        for rank, (name, each) in enumerate(extents.items()):
            path = str(tmp_path / name)
            found[path] = each and blocks.Blocks(1, tuple(
                (begin, begin + size, place) for begin, size, place in each))
            touched.pages[File(path, 10 * PAGE, 1)] = {
                page: Touch(10 * rank + page, 1, MAP) for page in (1, 2)}
        monkeypatch.setattr(blocks, "of_file", found.get)
        return touched
    return lying


def names(files) -> list[str]:
    return [os.path.basename(file.path) for file in files]


def test_a_disk_is_asked_in_its_order(lying):
    """By the place of what is touched, which an extent of its own may have."""
    touched = lying(late=[(0, PAGE, 0), (PAGE, 9 * PAGE, 90 * PAGE)], untold=None,
                    early=[(0, 10 * PAGE, 50 * PAGE)], hole=[(5 * PAGE, PAGE, 0)])
    assert names(blocks.in_order(touched, touched.in_order())) == ["early", "late", "untold",
                                                                   "hole"]


def test_files_that_go_on_share_a_request(lying):
    """What is touched of one ends where that of the next begins, on the same device."""
    touched = lying(first=[(0, 10 * PAGE, 0)], follows=[(0, 10 * PAGE, 2 * PAGE)],
                    apart=[(0, 10 * PAGE, 5 * PAGE)], untold=None,
                    after=[(0, 10 * PAGE, 7 * PAGE)])
    assert names(blocks.going_on(touched, touched.in_order())) == ["follows"]


def test_a_disk_has_fewer_requests(lying, tools, tmp_path):
    """One less for each such file; its seconds, and devices that work on many at once, as before"""
    path = tmp_path / "app.files"
    starts = []
    for place in (2, 3):
        touched = lying(first=[(0, 10 * PAGE, 0)], second=[(0, 10 * PAGE, place * PAGE)])
        path.write_bytes(listing.to_bytes(touched))
        starts.append(planning.predict([planning.Input(str(path))])["starts"])
    near, apart = starts
    assert near["hdd"]["list"]["requests"] == apart["hdd"]["list"]["requests"] - 1 == 1
    assert near["hdd"]["list"]["seconds"] == apart["hdd"]["list"]["seconds"]
    assert near["hdd"]["as_it_is"] == apart["hdd"]["as_it_is"]
    assert near["ssd"] == apart["ssd"]


def test_extents_are_those_of_the_file_system(tmp_path):
    """As filefrag prints them; more than one answer of the kernel has."""
    path = tmp_path / "sparse"
    with open(path, "wb") as file:
        for index in range(600):
            file.seek(2 * index * PAGE)
            file.write(b"x" * PAGE)
        file.flush()
        os.fsync(file.fileno())
    try:
        shown = subprocess.run(["filefrag", "-v", "-b1", path], capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("needs filefrag (e2fsprogs)")
    found = blocks.of_file(str(path))
    if shown.returncode or found is None:
        pytest.skip("this file system does not tell where files lie")
    rows = [line.split(":") for line in shown.stdout.splitlines() if line.count(":") >= 4][1:]
    assert [(begin, place) for begin, _, place in found.extents] == [
        (int(row[1].split("..")[0]), int(row[2].split("..")[0])) for row in rows]
    assert len(found.extents) >= 600 and found.place(PAGE) is None


def test_a_file_system_that_does_not_tell(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(b"x")
    os.mkfifo(tmp_path / "pipe")
    for name in ("missing", "pipe", "file/x"):
        assert blocks.of_file(str(tmp_path / name)) is None

    def refuse(*arguments):
        raise OSError(errno.EOPNOTSUPP, "not supported")

    monkeypatch.setattr(blocks.fcntl, "ioctl", refuse)
    assert blocks.of_file(str(path)) is None


def test_the_verb_writes_either_order(lying, cli, tmp_path):
    touched = lying(late=[(0, 10 * PAGE, 90 * PAGE)], early=[(0, 10 * PAGE, 0)])
    path, out = tmp_path / "app.files", tmp_path / "out.files"
    path.write_bytes(listing.to_bytes(touched))
    for order, expected in (("touch", ["late", "early"]), ("blocks", ["early", "late"])):
        assert cli("files", str(path), "--order", order, "-o", str(out)).code == EXIT_OK
        assert names(listing.read(out).pages) == expected
    assert cli("files", str(out), "-o", str(path)).code == EXIT_OK
    assert path.read_bytes() == listing.to_bytes(touched)
