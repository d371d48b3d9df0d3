"""The Debian packages: what is in them, and what they say they need. `anywhere` installs them in
clean systems."""

import re
import shutil
from collections import Counter
from email.parser import Parser
from pathlib import Path

import pytest
from abilities import needs
from places import BUILD, ROOT
from trees import HERE, checked, required, version

PACKAGES = {"frontload", "frontload-valgrind", "frontload-run", "libfrontload-dev",
            "libfrontload-prefetch1"}
# Tags of packages whose builder has given no mail address, and of packages that are not compressed,
# which saves time.
ALLOWED = ("bogus-mail-host,bogus-mail-host-in-debian-changelog,root-in-contact,"
           "uses-no-compression-for-data-tarball")
# CMake says so where it cannot write man pages.
IF_NO_PAGES = "" if (BUILD / "share" / "man").is_dir() else ",no-manual-page"


@pytest.fixture(scope="module")
def debs(packages) -> dict[str, Path]:
    """The Debian packages, by name."""
    return {path.name.partition("_")[0]: path for path in packages.glob("*.deb")}


def fields(path) -> dict[str, str]:
    return dict(Parser().parsestr(checked("dpkg-deb", "--field", path)).items())


def depends(path, field: str = "Depends") -> dict[str, str]:
    """What a package depends on, with the version it asks for."""
    listed = (re.fullmatch(r"(\S+)(?: \((.*)\))?", one)
              for one in fields(path).get(field, "").split(", ") if one and "|" not in one)
    return {match[1]: match[2] or "" for match in listed}


def test_there_is_one_for_each_purpose(debs):
    """Five packages, of one version, for this architecture."""
    assert debs.keys() == PACKAGES
    said = [fields(path) for path in debs.values()]
    assert {each["Version"] for each in said} == {version()}
    architecture = checked("dpkg", "--print-architecture").strip()
    assert {each["Architecture"] for each in said} == {architecture}


def test_they_have_what_is_installed(installation, debs):
    """Each file is in one package, beside license and changes; small ones have one file."""
    found = {}
    for name, path in debs.items():
        listed = checked("sh", "-c", f"dpkg-deb --fsys-tarfile '{path}' | tar -t").splitlines()
        files = {line.removeprefix("./") for line in listed if not line.endswith("/")}
        found[name] = files
        added = {f"usr/share/doc/{name}/copyright", f"usr/share/doc/{name}/changelog.gz"}
        assert added <= files
        files -= added
    counted = Counter(name.removesuffix(".gz") for files in found.values() for name in files
                      if "/lintian/" not in name and "/python3/runtime.d/" not in name)
    assert set(counted.values()) == {1}
    assert counted.keys() == {f"usr/{name}" for name in installation("lib").manifest
                              if not name.endswith("/LICENSE")}
    launcher = checked("sh", "-c", f"dpkg-deb --fsys-tarfile '{debs['frontload']}' | "
                       "tar -xO ./usr/bin/frontload")
    assert '"/usr/bin/python3";' in launcher and str(BUILD) not in launcher
    bare = {name: {file for file in files if "/share/" not in file}
            for name, files in found.items()}
    assert bare["libfrontload-prefetch1"] == {"usr/lib/libfrontload-prefetch.so.1"}
    assert bare["frontload-run"] == {"usr/bin/frontload-run"}
    assert {name.split("/")[1] for name in bare["libfrontload-dev"]} == {"include", "lib"}


def test_packages_depend_on_what_they_load(debs):
    """What runs elsewhere needs no LLVM and no Python."""
    assert depends(debs["frontload-run"]) == {}
    assert depends(debs["libfrontload-prefetch1"]) == {}
    found = depends(debs["frontload"])
    same = f"= {version()}"
    assert found["libfrontload-dev"] == found["frontload-run"] == same
    assert depends(debs["frontload-valgrind"])["frontload"] == same
    assert depends(debs["libfrontload-dev"])["libfrontload-prefetch1"] == same
    assert found.keys() - {"libfrontload-dev", "frontload-run"} == {
        "python3", "python3:any", *(f"python3-{name}" for name in required())}
    found |= depends(debs["frontload"], "Recommends")
    assert "node-d3" in found  # what mpld3 is for
    for name, least in required("measure", "report").items():
        if name != "mpld3":
            assert re.fullmatch(rf">= (\d+:)?{re.escape(least)}", found[f"python3-{name}"]), name


def test_programs_with_a_front_get_their_dependency(debs, installation, worked, tmp_path):
    """dpkg-shlibdeps finds that a program needs libfrontload-prefetch1."""
    libraries = installation("lib").libraries
    program = tmp_path / "debian/app/usr/bin/app"
    program.parent.mkdir(parents=True)
    (tmp_path / "debian/control").write_text(
        "Source: app\nMaintainer: none <none@localhost>\n\nPackage: app\nArchitecture: any\n")
    (tmp_path / "debian/shlibs.local").write_text(
        checked("dpkg-deb", "--info", debs["libfrontload-prefetch1"], "shlibs"))
    shutil.copy(worked / "front", program)
    found = checked("dpkg-shlibdeps", "-O", f"-l{libraries}", "--ignore-missing-info",
                    program, cwd=tmp_path)
    assert "libfrontload-prefetch1 (>= 0.1.0)" in found


def test_the_same_build_gives_the_same_packages(packages, debs):
    """Packed again, at another time, they are the same bytes."""
    again = {path.name: path.read_bytes() for path in (packages / "again").glob("*.deb")}
    assert len(again) == 2
    assert again == {name: (packages / name).read_bytes() for name in again}


def test_the_documented_rules_are_those_that_are_tried():
    """docs/how-to/package.md shows the debian/rules that `anywhere` builds a package with."""
    shown = re.search(r"```make\n(.*?)```", (ROOT / "docs/how-to/package.md").read_text(),
                      re.DOTALL)[1]
    assert shown == (HERE / "debian-app/debian/rules").read_text()


@needs("program:lintian")
@pytest.mark.slow
def test_lintian_finds_no_errors(debs):
    """No errors and no warnings, of those that do not depend on who packs."""
    checked("lintian", "--fail-on", "error,warning", "--suppress-tags", ALLOWED + IF_NO_PAGES,
            *debs.values())
