"""The packages for npm: a small installation, packed, installed without a network, and started."""

import json
import platform
import shutil
import signal
import subprocess

import abilities
import pytest
from places import ROOT
from trees import checked, clean_environment, small_installation, version

PACK = ROOT / "packaging/npm/pack.py"
FRONTLOAD = """#!/bin/sh
echo "$0: $*"
[ "$1" != wait ] || exec sleep 1000
exit 3
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The folder where npm has installed the packages of a small installation."""
    abilities.need("program:npm")
    tmp_path = tmp_path_factory.mktemp("npm")
    prefix = tmp_path / "prefix"
    small_installation(prefix, "lib/frontload/gcc/ld.lld", FRONTLOAD)
    for folder in (tmp_path, tmp_path / "again"):
        folder.mkdir(exist_ok=True)
        checked(shutil.which("python3"), PACK, prefix, platform.machine(), version(), folder)
    made = sorted(tmp_path.glob("*.tgz"))
    assert [path.read_bytes() for path in made] == \
        [path.read_bytes() for path in sorted((tmp_path / "again").glob("*.tgz"))]
    checked("npm", "install", "--offline", "--no-audit", "--no-fund", "--prefix", tmp_path / "here",
            *made, env=clean_environment(npm_config_cache=str(tmp_path / "cache")))
    return tmp_path / "here/node_modules"


def test_npm_installs_the_package_of_this_processor(installed, tmp_path):
    """Its links are files, since npm packs none; its programs get what they are called with, and
    their exit status is the command's."""
    [native] = (installed / "@frontload").iterdir()
    said = json.loads((native / "package.json").read_text())
    assert said["version"] == version() and said["os"] == ["linux"]
    assert (native / "lib/libfrontload-prefetch.so").read_text() == FRONTLOAD
    assert "exec" in (native / "lib/frontload/gcc/ld.lld").read_text()
    ran = subprocess.run([installed / ".bin/frontload", "a b", "c"], capture_output=True, text=True)
    assert (ran.returncode, ran.stdout) == (3, f"{native}/bin/frontload: a b c\n")
    shutil.copytree(installed, tmp_path / "copy", symlinks=True)
    shutil.rmtree(tmp_path / "copy/@frontload" / native.name)
    ran = subprocess.run([tmp_path / "copy/.bin/frontload"], capture_output=True, text=True)
    assert ran.returncode == 2 and f"@frontload/{native.name} is not installed" in ran.stderr


def test_signals_reach_the_program(installed):
    """A terminated command ends the program, and ends as it did."""
    with subprocess.Popen([installed / ".bin/frontload", "wait"], stdout=subprocess.PIPE) as ran:
        assert b"wait" in ran.stdout.readline()
        ran.terminate()
        assert ran.wait() == -signal.SIGTERM and ran.stdout.read() == b""
