"""bench/fetch-source: which lists it makes, and that it accepts one tarball only."""

import hashlib
import subprocess

import pytest
from coldbench import source_package
from coldbench.__main__ import main as bench
from frontload.base.errors import Failure

# In the place of apt-get: `source` leaves what the archive has in the current folder.
APT_GET = """#!/bin/sh
case $* in *" update"*) exit 100 ;; esac
cp %s/*.orig.tar.gz .
"""


def test_lists_of_sources_are_made_from_those_of_packages():
    """Both styles keep what else a line says; a comment is no line, and none is there twice."""
    assert source_package.source_lines(
        "# deb is a word here\ndeb [arch=amd64] http://a bookworm main\n"
        "deb-src http://b main\n deb http://b main\ndebug\n").splitlines() == [
        "# deb is a word here", "deb-src [arch=amd64] http://a bookworm main",
        "deb-src http://b main", "debug"]
    assert source_package.source_paragraphs(
        "Types: deb deb-src\nURIs: http://a\n\nTypes: deb\nURIs: http://b\n") == (
        "Types: deb-src\nURIs: http://a\n\nTypes: deb-src\nURIs: http://b\n")


def test_a_source_replaces_what_was_there(tmp_path, monkeypatch):
    """What the top folder of the tarball holds is in the folder, and nothing else."""
    folder = tmp_path / "archive"
    (folder / "small-1/part").mkdir(parents=True)
    (folder / "small-1/part/file").write_text("text")
    tarball = folder / "small_1.orig.tar.gz"
    subprocess.run(["tar", "-czf", tarball, "-C", folder, "small-1"], check=True)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/apt-get").write_text(APT_GET % folder)
    (tmp_path / "bin/apt-get").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    target = tmp_path / "work/source"
    target.mkdir(parents=True)
    (target / "old").write_text("")
    sha256 = hashlib.sha256(tarball.read_bytes()).hexdigest()
    assert bench(["source_package", "small", sha256, str(target)]) == 0
    assert sorted(str(file.relative_to(target)) for file in target.rglob("*")) == [
        ".sha256", "part", "part/file"]
    assert list((tmp_path / "work").iterdir()) == [target]

    # The same source is left alone, without asking the archive; another one is not taken for it.
    (target / "part/file").write_text("built")
    tarball.unlink()
    assert bench(["source_package", "small", sha256, str(target)]) == 0
    assert (target / "part/file").read_text() == "built"
    assert bench(["source_package", "small", "0" * 64, str(target)]) == 1

    # An archive without the source.
    (tmp_path / "scratch").mkdir()
    with pytest.raises(Failure, match="small: its source cannot be downloaded: cp: ") as refusal:
        source_package.download("small", "0" * 64, tmp_path / "scratch")
    assert "/etc/apt" in refusal.value.note
