"""A program of others, whose sources know nothing of Frontload: file(1), by its own configure."""

import shutil

import pytest
from abilities import needs
from example import Project
from places import BUILD

LIBRARY = "src/.libs/libmagic.so.1.0.0"


@pytest.mark.slow
@needs("ptrace", "built:third-party/file")  # scripts/setup test puts it there
def test_a_build_of_others_gets_fronts(tmp_path):
    """By another compiler in configure, and no line in its sources: program and library have
    fronts, only they are linked again, what is said of a file is the same, and so after the
    installation."""
    shutil.copytree(BUILD / "third-party/file", tmp_path / "file")
    file = Project(tmp_path / "file")
    file.run("./configure", "-q", "--disable-static", "--disable-zlib", "--disable-bzlib",
             "--disable-xzlib", "CC=frontload-cc gcc", "FRONTLOAD=record")
    file.make("-j2", "FRONTLOAD=record")
    look = ("./libtool", "--mode=execute", "src/file", "-m", "magic/magic.mgc", "configure", "src")
    before = file.run(*look).stdout
    assert "shell script" in before and "directory" in before
    file.run("./libtool", "--mode=execute", "frontload", "record", "-o", "traces", "--module",
             "libmagic.so.1", "--", "src/file", "-m", "magic/magic.mgc", "configure")
    for program, name in (("file", "file"), ("libmagic.so.1.0.0", "libmagic.so")):
        file.run("frontload", "profile", "traces", "--program", program,
                 "-o", f"startup/{name}.startup")
    for name in ("src/.libs/file", "src/file", "src/libmagic.la"):
        (file.folder / name).unlink()
    prefix = file.folder / "prefix"
    profiles = f"FRONTLOAD_PROFILE_DIR={file.folder / 'startup'}"
    assert "--mode=compile" not in file.make(profiles)
    file.make("install", f"prefix={prefix}", profiles)
    assert file.run(*look).stdout == before
    for program, name in (("src/.libs/file", "file"), (LIBRARY, "libmagic.so"),
                          (prefix / "bin/file", "file"),
                          (prefix / "lib/libmagic.so.1.0.0", "libmagic.so")):
        file.has_front(program, f"startup/{name}.startup")
