"""A program of others, whose sources know nothing of Frontload: file(1), by its own configure."""

import shutil

import pytest
from conftest import Project

LIBRARY = "src/.libs/libmagic.so.1.0.0"


@pytest.fixture(scope="module")
def file(tmp_path_factory, build) -> Project:
    """file, built by frontload-cc in the record mode: configured and compiled once."""
    source = build / "third-party" / "file"
    if not source.is_dir():
        pytest.skip(f"{source} is not there: scripts/setup test puts the source of file there")
    folder = tmp_path_factory.mktemp("third-party") / "file"
    shutil.copytree(source, folder)
    project = Project(folder, build)
    project.run("./configure", "-q", "--disable-static", "--disable-zlib", "--disable-bzlib",
                "--disable-xzlib", "CC=frontload-cc gcc", "FRONTLOAD=record")
    project.run("make", "-j2", "FRONTLOAD=record")
    return project


def test_a_build_of_others_gets_fronts(file):
    """By another compiler in configure, and no line in its sources: program and library have
    fronts, only they are linked again, what is said of a file is the same, and so after the
    installation."""
    look = ("./libtool", "--mode=execute", "src/file", "-m", "magic/magic.mgc", "configure", "src")
    before = file.run(*look).stdout
    assert "shell script" in before and "directory" in before
    file.run("./libtool", "--mode=execute", "frontload", "record", "-o", "traces", "--module",
             "libmagic.so.1", "--", "src/file", "-m", "magic/magic.mgc", "configure")
    for program, name in (("file", "file"), ("libmagic.so.1.0.0", "libmagic.so")):
        file.run("frontload", "profile", "traces", "--program", program,
                 "-o", f"startup/{name}.startup")
    (file.folder / "src/.libs/file").unlink()
    for name in ("src/file", "src/libmagic.la"):
        (file.folder / name).unlink()
    prefix = file.folder / "prefix"
    profiles = f"FRONTLOAD_PROFILE_DIR={file.folder / 'startup'}"
    built = file.run("make", profiles)
    assert "--mode=compile" not in built.stdout
    file.run("make", "install", f"prefix={prefix}", profiles)
    assert file.run(*look).stdout == before
    for program, name in (("src/.libs/file", "file"), (LIBRARY, "libmagic.so"),
                          (prefix / "bin/file", "file"),
                          (prefix / "lib/libmagic.so.1.0.0", "libmagic.so")):
        file.has_front(program, f"startup/{name}.startup")
