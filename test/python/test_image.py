"""frontload image: images for a known start, which hold what the folder holds."""

import json
import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest
from abilities import lacking, needs
from frontload.device.squashfs import COMPRESSORS, read_super
from frontload.image import appimage, hot, squashfs
from frontload.reading import lazy_images, listing
from frontload.reading.listing import MAP, PAGE, File, PrefetchList, Touch
from in_process import frontload

pytestmark = needs("program:mksquashfs", "program:unsquashfs")
BLOCK = 1 << 17
TEXT = b"".join(b"%d squared is %d\n" % (number, number * number) for number in range(40_000))


def listed(folder: Path, *touched: tuple[str, list[int]], runs: int = 1) -> Path:
    """A list of pages of files in a folder, beside it."""
    found, rank = PrefetchList(runs), 0
    for name, pages in touched:
        path = folder / name
        touches = found.pages.setdefault(
            File(str(path), path.stat().st_size, path.stat().st_mtime_ns), {})
        for page in pages:
            touches[page] = Touch(rank, 1, MAP)
            rank += 1
    to = folder.parent / f"{folder.name}.files"
    to.write_bytes(listing.to_bytes(found))
    return to


@pytest.fixture
def folder(tmp_path):
    """Of every kind of file."""
    made = tmp_path / "folder"
    (made / "a b" / "deep").mkdir(parents=True)
    (made / "empty").mkdir()
    (made / "program").write_bytes(TEXT)
    (made / "copy").write_bytes(TEXT)
    (made / "a b" / 'quoted "name" \\ [x] *^').write_bytes(TEXT[:3 * BLOCK + 5])
    (made / "line\nend").write_bytes(TEXT[7:BLOCK])
    os.link(made / "program", made / "a b" / "hard link")
    (made / "link").symlink_to("program")
    (made / "nothing").touch()
    with (made / "sparse").open("wb") as stream:
        stream.seek(3 * BLOCK)
        stream.write(TEXT[:BLOCK + 100])
        stream.truncate(9 * BLOCK)
    (made / "a b" / "noise").write_bytes(random.Random(1).randbytes(2 * BLOCK + 9))
    for number in range(900):  # more than a piece of a table holds
        (made / "a b" / "deep" / f"{number:0100}").write_bytes(TEXT[number:number + 700])
    os.mkfifo(made / "pipe")
    (made / "program").chmod(0o4711)
    return made


def contents(folder: Path) -> dict:
    found = {}
    for at, folders, names in os.walk(folder):
        for name in (*folders, *names):
            path = Path(at, name)
            status = path.lstat()
            kind = path.readlink() if path.is_symlink() else \
                path.read_bytes() if path.is_file() else None
            links = status.st_nlink if path.is_file() else 1
            found[path.relative_to(folder)] = status.st_mode, int(status.st_mtime), links, kind
    return found


def unpacked(image: Path, *options) -> dict:
    to = image.with_suffix(".unpacked")
    subprocess.run(["unsquashfs", "-q", "-n", *options, "-d", to, image], check=True,
                   capture_output=True)
    try:
        return contents(to)
    finally:
        shutil.rmtree(to)


def mounted(image: Path, *mount: str) -> dict:
    (at := image.with_suffix(".mounted")).mkdir(exist_ok=True)
    subprocess.run([*(mount or ("mount", "-o", "loop,ro")), image, at], check=True)
    try:
        return contents(at)
    finally:
        subprocess.run(["umount", at], check=True)


def check_contents(image: Path, folder: Path) -> None:
    """The image holds what the folder holds, for all that read it here."""
    assert unpacked(image) == contents(folder)
    if not lacking("loop-devices"):
        assert mounted(image) == contents(folder)
    if not lacking("image:squashfuse"):
        assert mounted(image, "squashfuse") == contents(folder)


def make(folder: Path, image: Path, *options) -> dict:
    return json.loads(frontload("image", folder, "-o", image, "--json", "-", *options))


def parsed(image: Path) -> squashfs._Image:
    with image.open("rb") as stream:
        read = squashfs._Image(image, stream)
    for name, inode in read.files():
        read.add(name, inode, None)
    return read


def hot_blocks(image: Path) -> dict[str, list[bool]]:
    """Of each large file, which of its blocks are stored."""
    read = parsed(image)
    return {name: [block.raw for _, block in sorted(read.blocks.items())
                   if any(piece[1] == name and piece[3] == BLOCK for piece in block.pieces)]
            for name, _ in read.files()}


@pytest.mark.parametrize("compressor", ["gzip", "xz", "zstd", "lz4", "lzo"])
def test_the_contents_are_those_of_the_folder(folder, tmp_path, compressor):
    """With hot blocks, hot ends of files, hot holes, and names of all kinds."""
    files = listed(folder, ("program", [40]), ('a b/quoted "name" \\ [x] *^', [0, 96]),
                   ("sparse", [0, 100, 200]), ("a b/noise", [0]), ("line\nend", [3]),
                   (f"a b/deep/{5:0100}", [0]))
    image = tmp_path / "image"
    made = make(folder, image, "--compressor", compressor, "--files", files, "--growth", 100)
    assert made["hot_blocks"]
    assert made["stored_bytes"] == made["hot_bytes"] and not made["quick_bytes"]
    assert made["bytes"] == image.stat().st_size > made["plain_bytes"]
    check_contents(image, folder)


def test_only_touched_blocks_are_stored(folder, tmp_path):
    """Also in a file of the same contents, which shares them."""
    make(folder, image := tmp_path / "image", "--growth", 100, "--files",
         listed(folder, ("program", [32, 70])))
    stored = hot_blocks(image)
    assert stored["program"] == stored["copy"] == stored["a b/hard link"]
    assert [number for number, raw in enumerate(stored["program"]) if raw] == [1, 2]
    assert not any(stored['a b/quoted "name" \\ [x] *^'])


def test_hot_files_come_first_in_the_order_of_touch(folder, tmp_path):
    image = tmp_path / "image"
    make(folder, image, "--files", listed(folder, ("sparse", [100]), ("a b/noise", [0])))
    read = parsed(image)
    names = [read.blocks[begin].pieces[0][1] for begin in sorted(read.blocks)]
    assert list(dict.fromkeys(names))[:2] == ["sparse", "a b/noise"]


def test_growth_has_a_limit(folder, tmp_path):
    """What compresses least is stored first."""
    (folder / "half").write_bytes(random.Random(2).randbytes(BLOCK // 2) + bytes(BLOCK // 2)
                                  + TEXT[:BLOCK])
    files = listed(folder, ("half", [0, 32]))
    none = make(folder, tmp_path / "none", "--files", files, "--growth", 0)
    assert none["bytes"] == none["plain_bytes"] and not none["stored_bytes"]
    growth = 100 * BLOCK / none["plain_bytes"]
    make(folder, image := tmp_path / "some", "--files", files, "--growth", growth)
    assert hot_blocks(image)["half"] == [True, False]
    assert image.stat().st_size <= none["plain_bytes"] * (1 + growth / 100)


def test_blocks_are_compressed_for_speed_before_they_are_stored(folder, tmp_path):
    """By zstd, as that costs fewer bytes for the time that it saves."""
    files = listed(folder, ("program", list(range(-(-len(TEXT) // PAGE)))))
    plain = make(folder, tmp_path / "plain", "--files", files, "--growth", 0)
    image = tmp_path / "quick"
    growth = 100 * BLOCK / plain["plain_bytes"]  # less than two blocks grow if they are stored
    made = make(folder, image, "--files", files, "--growth", growth)
    assert not plain["quick_bytes"] and not made["stored_bytes"]
    assert 4 * BLOCK < made["quick_bytes"] <= made["hot_bytes"]
    assert plain["bytes"] < made["bytes"] <= plain["bytes"] + BLOCK
    check_contents(image, folder)


@needs("program:mkfs.erofs")
@pytest.mark.parametrize("form", ["squashfs", "erofs"])
def test_the_same_folder_gives_the_same_bytes(folder, tmp_path, form, monkeypatch):
    files = listed(folder, ("program", [0]))
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    for name in "ab":
        make(folder, tmp_path / name, "--format", form, "--files", files)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@needs("image:erofs", "loop-devices")
def test_files_of_an_erofs_image_are_stored(folder, tmp_path):
    """Those that are touched mostly."""
    pages = range(-(-len(TEXT) // PAGE))
    image = tmp_path / "image"
    made = make(folder, image, "--format", "erofs", "--growth", 100, "--files", listed(
        folder, ("program", list(pages)), ("sparse", [96]), ('a b/quoted "name" \\ [x] *^', [0])))
    assert made["stored_bytes"] == len(TEXT) and TEXT[:BLOCK] in image.read_bytes()
    assert mounted(image) == contents(folder)


def test_an_appimage_is_packed_again(folder, tmp_path):
    """Its runtime is kept; a list may have been recorded where it was mounted."""
    runtime = (data := Path("/bin/true").read_bytes())[:appimage.runtime_size(Path("/bin/true"))]
    assert data.startswith(runtime)
    subprocess.run(["mksquashfs", folder, tmp_path / "plain", "-quiet", "-no-progress", "-comp",
                    "gzip", "-b", "64K"], check=True)
    given, to = tmp_path / "app.AppImage", tmp_path / "new.AppImage"
    given.write_bytes(runtime + (tmp_path / "plain").read_bytes())
    given.chmod(0o755)
    files = listed(folder, ("program", [0]))
    files.write_bytes(files.read_bytes().replace(bytes(folder), b"/tmp/.mount_appX1"))
    made = make(given, to, "--files", files, "--growth", 100)
    assert made["before_bytes"] == given.stat().st_size and made["hot_blocks"] == 1
    assert made["bytes"] == to.stat().st_size > made["plain_bytes"] > given.stat().st_size * 0.9
    assert to.read_bytes().startswith(runtime) and os.access(to, os.X_OK)
    found = read_super(to, len(runtime))
    assert COMPRESSORS[found.compressor - 1] == "gzip" and found.block == 1 << 16
    assert unpacked(to, "-offset", str(len(runtime))) == contents(folder)


def test_a_front_needs_no_list(tmp_path, monkeypatch):
    (tmp_path / "folder").mkdir()
    shutil.copy("/bin/true", tmp_path / "folder")
    monkeypatch.setattr(hot.front, "ranges_of", lambda elf: [(PAGE, 2 * PAGE)])
    made = make(tmp_path / "folder", tmp_path / "image", "--growth", 100)
    assert made["hot_files"] == made["hot_blocks"] == 1


@pytest.mark.parametrize(("given", "said", "code"), [
    ("missing", "No such file", 2), ("text", "is no folder and no AppImage", 65),
    ("/bin/true", "has no SquashFS image", 65)])
def test_what_cannot_be_packed(tmp_path, monkeypatch, given, said, code):
    monkeypatch.chdir(tmp_path)
    Path("text").write_text("text")
    assert said in frontload("image", given, "-o", "image", code=code)
    assert not Path("image").exists()


def test_other_mistakes(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = listed(folder, ("program", [0]))
    assert "name no file" in frontload("image", folder, "-o", "i", "--files", files, "--root",
                                       "/elsewhere", code=2)
    assert "mksquashfs: exited" in frontload("image", folder, "-o", "i", "--option=-rle", code=1)
    assert "zip:128K: is no image" in frontload("image", folder, "-o", "i", "--compressor=zip",
                                                code=2)
    assert "lies in" in frontload("image", ".", "-o", "i", code=2)
    (folder / "program").write_text("shorter")
    assert "another size" in frontload("image", folder, "-o", "i", "--files", files, code=2)
    assert not Path("i").exists() and not list(tmp_path.glob(".i.*"))


def test_an_image_that_is_not_as_we_made_it(folder, tmp_path):
    """Compressed inodes, and damage anywhere, are errors."""
    image = tmp_path / "image"
    subprocess.run(["mksquashfs", folder, image, "-quiet", "-no-progress"], check=True)
    with pytest.raises(squashfs.BadData, match="a table is compressed"), \
            (tmp_path / "to").open("wb") as to:
        squashfs.speed_up(image, folder, {}, 0, to)


def test_formats_of_lazily_fetched_images(tmp_path):
    touched = PrefetchList(1, {File("/root/b", 3 * PAGE, 0): {0: Touch(1, 1, MAP),
                                                             1: Touch(5, 1, MAP)},
                              File("/root/a\udcff", 9, 0): {0: Touch(4, 1, MAP)},
                              File("/root/a/c", 9, 0): {0: Touch(0, 1, MAP)},
                              File("/other", 9, 0): {0: Touch(3, 1, MAP)}})
    (tmp_path / "l.files").write_bytes(listing.to_bytes(touched))

    def written(form: str) -> str:
        said = frontload("files", tmp_path / "l.files", "--format", form, "--root", "/root", "-o",
                         tmp_path / "to")
        assert "2 files left out" in said
        return (tmp_path / "to").read_text()

    assert json.loads(written("nydus")) == {"version": "v1", "files": [
        {"path": "/a/c", "ranges": [[0, 9]]}, {"path": "/b", "ranges": [[0, 2 * PAGE]]}]}
    assert json.loads(written("soci")) == ["/a/c", "/b"]
    assert [json.loads(line) for line in written("estargz").splitlines()] == [
        {"path": "a/c"}, {"path": "b"}]
    assert lazy_images.FORMATS == ("nydus", "soci", "estargz")
