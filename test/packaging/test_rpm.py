"""The rpm: the files of an installation, below /usr, and the same bytes at another time."""

import os

from abilities import needs
from places import ROOT
from trees import checked, clean_environment, small_installation, version


@needs("program:rpmbuild", "program:rpm")
def test_an_rpm_has_the_files_of_the_installation(tmp_path):
    prefix = tmp_path / "a prefix"
    small_installation(prefix, "share/doc/frontload/LICENSE", "contents")
    made = []
    for at in (1_800_000_000, 1_800_000_007):
        for path in prefix.rglob("*"):
            os.utime(path, (at, at), follow_symlinks=False)
        folder = tmp_path / str(at)
        folder.mkdir()
        checked(ROOT / "packaging/rpm/pack", prefix, os.uname().machine, version(), folder,
                env=clean_environment(SOURCE_DATE_EPOCH="1700000000"))
        made += folder.glob("*.rpm")
    one, again = made
    assert one.read_bytes() == again.read_bytes()
    assert one.name == f"frontload-{version()}-1.{os.uname().machine}.rpm"
    said = checked("rpm", "-qp", "--qf", "[%{FILEMODES:perms} %{FILENAMES} %{FILELINKTOS}\n]", one)
    assert said.splitlines() == [
        "-rwxr-xr-x /usr/bin/frontload ",
        "lrwxrwxrwx /usr/lib/libfrontload-prefetch.so libfrontload-prefetch.so.1",
        "-rw-r--r-- /usr/lib/libfrontload-prefetch.so.1 ",
        "-rw-r--r-- /usr/share/doc/frontload/LICENSE "]
    assert "python3 >= 3.10" in checked("rpm", "-qp", "--requires", one)
