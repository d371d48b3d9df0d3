"""Where files lie on a device, and what a prefetch list makes of it."""

import errno
import os

import pytest
from abilities import needs
from frontload.reading import blocks, listing, planning
from frontload.reading.listing import MAP, PAGE, File, PrefetchList, Touch


@pytest.fixture
def lying(tmp_path, monkeypatch):
    """lying(name=[(offset, pages, place)...]...): files that lie there, in pages; None tells
    nothing. The second and the third page of each are touched."""
    def lying(**extents) -> PrefetchList:
        found = {}
        touched = PrefetchList(1)
        for rank, (name, each) in enumerate(extents.items()):
            path = str(tmp_path / name)
            found[path] = each and blocks.Blocks(1, tuple(
                (begin * PAGE, (begin + size) * PAGE, place * PAGE) for begin, size, place in each))
            touched.pages[File(path, 10 * PAGE, 1)] = {
                page: Touch(10 * rank + page, 1, MAP) for page in (1, 2)}
        monkeypatch.setattr(blocks, "of_file", found.get)
        return touched
    return lying


def names(files) -> list[str]:
    return [os.path.basename(file.path) for file in files]


def test_a_disk_is_asked_in_its_order(lying, cli, tmp_path):
    """By the place of what is touched, which an extent of its own may have."""
    touched = lying(late=[(0, 1, 0), (1, 9, 90)], untold=None, early=[(0, 10, 50)],
                    hole=[(5, 1, 0)])
    asked = ["early", "late", "untold", "hole"]
    assert names(blocks.in_order(touched, touched.in_order())) == asked
    path, out = tmp_path / "app.files", tmp_path / "out.files"
    path.write_bytes(listing.to_bytes(touched))
    for order, expected in (("touch", ["late", "untold", "early", "hole"]), ("blocks", asked)):
        cli("files", path, "--order", order, "-o", out)
        assert names(listing.read(out).pages) == expected
    cli("files", out, "-o", path)
    assert path.read_bytes() == listing.to_bytes(touched)


def test_files_that_go_on_share_a_request(lying, tools, tmp_path):
    """What is touched of one ends where that of the next begins, on the same device."""
    touched = lying(first=[(0, 10, 0)], follows=[(0, 10, 2)], apart=[(0, 10, 5)], untold=None,
                    after=[(0, 10, 7)])
    assert names(blocks.going_on(touched, touched.in_order())) == ["follows"]
    path, starts = tmp_path / "app.files", []
    for place in (2, 3):
        path.write_bytes(listing.to_bytes(lying(first=[(0, 10, 0)], second=[(0, 10, place)])))
        starts.append(planning.predict([planning.Input(str(path))])["starts"])
    near, apart = starts
    assert near["hdd"]["list"]["requests"] == apart["hdd"]["list"]["requests"] - 1 == 1
    assert near["hdd"]["list"]["seconds"] == apart["hdd"]["list"]["seconds"]
    assert near["hdd"]["as_it_is"] == apart["hdd"]["as_it_is"]
    assert near["ssd"] == apart["ssd"]


@needs("program:filefrag", "tmp-on-disk")
def test_extents_are_those_of_the_file_system(tmp_path, run):
    """As filefrag prints them; more than one answer of the kernel has."""
    path = tmp_path / "sparse"
    with open(path, "wb") as file:
        for index in range(600):
            file.seek(2 * index * PAGE)
            file.write(b"x" * PAGE)
        file.flush()
        os.fsync(file.fileno())
    found = blocks.of_file(str(path))
    if found is None:
        pytest.skip("this file system does not tell where files lie")
    lines = run("filefrag", "-v", "-b1", path).stdout.splitlines()
    rows = [line.split(":") for line in lines if line.count(":") >= 4][1:]
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
