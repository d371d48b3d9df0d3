"""Prefetch lists of files that were written again."""

import os

import pytest
from frontload.reading import contents, listing, record
from frontload.reading.listing import MAP, PrefetchList, Touch


@pytest.fixture
def recorded(link, tmp_path):
    """A list of a file of text and a linked one with a build-id."""
    text, program = tmp_path / "text", link().path
    text.write_text("first")
    return PrefetchList(1, {record.identity(str(each)): {0: Touch(0, 1, MAP)}
                           for each in (text, program)})


def touch_again(touched: PrefetchList) -> None:
    for file in touched.pages:
        os.utime(file.path, ns=(0, file.changed_ns + 10 ** 9))


def test_files_of_the_same_contents_have_new_times(recorded, cli, tmp_path):
    """A hash tells it of a text, which without one is left as it was."""
    text, program = recorded.pages
    path, kept, out = (tmp_path / f"{name}.files" for name in ("app", "kept", "out"))
    path.write_bytes(listing.to_bytes(recorded))
    cli("files", path, "--hash", "-o", kept)
    assert [len(each) for each in listing.read(kept).sha256.values()] == [64]
    touch_again(recorded)
    for given, expected in ((path, {text, record.identity(program.path)}),
                            (kept, {record.identity(each.path) for each in (text, program)})):
        result = cli("files", given, "--renew", "-o", out)
        assert set(listing.read(out).pages) == expected
        assert (f"left as they were: {text.path}" in result.err) == (given == path)
    assert set(listing.read(out).sha256) == {record.identity(text.path)}


def test_files_of_other_contents_are_left_as_they_were(recorded):
    """What is not what was recorded gets no hash."""
    text, program = recorded.pages
    touch_again(recorded)
    assert contents.add_hashes(recorded) == [text.path] and not recorded.sha256
    os.utime(text.path, ns=(0, text.changed_ns))
    assert contents.add_hashes(recorded) == []
    touch_again(recorded)
    with open(text.path, "w") as file:
        file.write("other")
    os.unlink(program.path)
    found, renewed, others = contents.renew(recorded)
    assert found == recorded and renewed == 0 and others == [text.path, program.path]


def test_a_list_with_hashes_is_asked_for(recorded, build, run, tmp_path):
    contents.add_hashes(recorded)
    path = tmp_path / "app.files"
    path.write_bytes(listing.to_bytes(recorded))
    assert b"\t-\t" in path.read_bytes()
    said = run(build / "bin/frontload-run", "--verbose", f"--files={path}", "--", "true").stderr
    assert "of 2 files" in said and "; 0 files have changed" in said
