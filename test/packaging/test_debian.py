"""The Debian packages: what is in them, what they say they need, and that what is in them works.

That they can be installed is tried on a clean system by clean-root, which needs the network.
"""

import json
import re
import shutil
import subprocess
from email.parser import Parser

import pytest
from trees import BUILD, HERE, MULTIARCH, ROOT, checked, files_of, packed

PACKAGES = {"frontload", "frontload-run", "libfrontload-dev", "libfrontload-prefetch1"}
# What is true of whoever builds packages without saying who it is.
WHOEVER = "bogus-mail-host,bogus-mail-host-in-debian-changelog,root-in-contact"
# CMake says so where it cannot write man pages.
IF_NO_PAGES = "" if (BUILD / "share" / "man").is_dir() else ",no-manual-page"


def fields(path) -> dict[str, str]:
    return dict(Parser().parsestr(checked("dpkg-deb", "--field", path)).items())


def needs(path) -> dict[str, str]:
    """What a package depends on, with the version it asks for."""
    listed = (re.fullmatch(r"(\S+)(?: \((.*)\))?", one)
              for one in fields(path).get("Depends", "").split(", ") if one)
    return {match[1]: match[2] or "" for match in listed}


def contents(path, tmp_path) -> set[str]:
    folder = tmp_path / path.stem
    checked("dpkg-deb", "--extract", path, folder)
    return files_of(folder)


def test_there_is_one_for_each_purpose(debs):
    """Four packages, of one version, for this architecture, each with a summary of its own."""
    assert debs.keys() == PACKAGES
    said = {name: fields(path) for name, path in debs.items()}
    assert {each["Version"] for each in said.values()} == {checked(
        "sed", "-n", 's/^__version__ = "\\(.*\\)"/\\1/p',
        ROOT / "scripts" / "frontload" / "__init__.py").strip()}
    assert {each["Architecture"] for each in said.values()} == {
        checked("dpkg", "--print-architecture").strip()}
    summaries = {each["Description"].partition("\n")[0] for each in said.values()}
    assert len(summaries) == len(PACKAGES) and all(len(summary) < 70 for summary in summaries)


def test_what_a_program_needs_where_it_runs_is_one_small_file(debs, tmp_path):
    """libfrontload-prefetch1 has the library and what policy asks for, and needs no package."""
    path = debs["libfrontload-prefetch1"]
    assert {name for name in contents(path, tmp_path) if not name.startswith("usr/share/")} == {
        f"usr/lib/{MULTIARCH}/libfrontload-prefetch.so.1"}
    assert needs(path) == {} and int(fields(path)["Installed-Size"]) < 50


def test_a_runner_needs_no_llvm_and_no_python(debs):
    """frontload-run is for machines that only run programs; it may have the C library in itself."""
    assert needs(debs["frontload-run"]).keys() <= {"libc6"}


def test_the_tools_depend_on_what_they_load(debs):
    """The libraries of the programs, the Python packages that pyproject.toml names, in the same
    versions, and the other packages of this version."""
    found = needs(debs["frontload"])
    assert {"libc6", "libstdc++6"} < found.keys()
    assert any(re.fullmatch(r"libllvm\d+", name) for name in found)
    same = f"= {fields(debs['frontload'])['Version']}"
    assert found["libfrontload-dev"] == found["frontload-run"] == same
    assert needs(debs["libfrontload-dev"])["libfrontload-prefetch1"] == same
    wanted = re.search(r"^dependencies = \[(.*?)\]", (ROOT / "pyproject.toml").read_text(),
                       re.MULTILINE | re.DOTALL)[1]
    for package, least in re.findall(r'"(\w+)>=([\d.]+)"', wanted):
        assert re.fullmatch(rf">= (\d+:)?{re.escape(least)}", found[f"python3-{package}"]), package


def test_each_has_its_licence_and_changes(debs, tmp_path):
    """Policy wants both in a folder of the package's name, and no other copy of the licence."""
    for name, path in debs.items():
        found = contents(path, tmp_path)
        assert {f"usr/share/doc/{name}/copyright", f"usr/share/doc/{name}/changelog.gz"} <= found
        assert not any("LICENSE" in file for file in found)


def test_no_two_have_the_same_file(debs, tmp_path):
    """dpkg refuses to install packages that do, and everything that is installed is in one."""
    found = [name for path in debs.values() for name in contents(path, tmp_path)]
    assert len(found) == len(set(found))


def test_what_is_in_them_works(worked):
    """Unpacked to a folder, they are an installation that was moved there."""
    assert "everything works" in worked[0]


def test_programs_with_a_front_get_their_dependency(debs, unpacked, worked, tmp_path):
    """dpkg-shlibdeps, which debhelper runs, finds that a program needs libfrontload-prefetch1, in
    any version that has its interface."""
    (tmp_path / "debian" / "app" / "usr" / "bin").mkdir(parents=True)
    (tmp_path / "debian" / "control").write_text(
        "Source: app\nMaintainer: none <none@localhost>\n\nPackage: app\nArchitecture: any\n")
    (tmp_path / "debian" / "shlibs.local").write_text(
        checked("dpkg-deb", "--info", debs["libfrontload-prefetch1"], "shlibs"))
    program = tmp_path / "debian" / "app" / "usr" / "bin" / "app"
    shutil.copy(worked[1] / "front", program)
    found = checked("dpkg-shlibdeps", "-O", f"-l{unpacked}/usr/lib/{MULTIARCH}",
                    "--ignore-missing-info", program, cwd=tmp_path)
    assert "libfrontload-prefetch1 (>= 0.1.0)" in found


def test_the_same_build_gives_the_same_packages(configured, debs):
    """Packed again, at another time, they are the same bytes. (Not the large one, of which the
    same is done: cpack looks at each of its files by a program.)"""
    folder = configured("-DCMAKE_INSTALL_PREFIX=/usr")
    packed(folder, "-D", "CPACK_COMPONENTS_ALL=runtime;run;development")
    for name, path in debs.items():
        again = folder / "packages" / path.name
        if name != "frontload":
            assert again.read_bytes() == path.read_bytes(), path
        again.unlink(missing_ok=True)


def test_a_build_for_another_prefix_is_not_packed(configured):
    """Its files would be where Debian has none; the message says what to do."""
    folder = configured()
    result = subprocess.run(["cpack", "--config", "CPackConfig.cmake"], cwd=folder, text=True,
                            capture_output=True, timeout=60, check=False)
    assert result.returncode != 0 and not list(folder.glob("packages/*.deb"))
    assert "--preset debian" in " ".join(result.stderr.split())


def test_packing_leaves_the_build_as_it_is():
    """What is built for /usr, without tests, has a folder of its own."""
    folders = {preset["name"]: preset.get("binaryDir") for preset in
               json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]}
    assert folders["debian"] == "${sourceDir}/build/debian"
    assert "cd build/debian\n" in (ROOT / "scripts" / "package").read_text()


def test_the_documented_rules_are_those_that_are_tried():
    """docs/how-to/package.md shows the debian/rules that clean-root builds a package with."""
    shown = re.search(r"```make\n(.*?)```", (ROOT / "docs" / "how-to" / "package.md").read_text(),
                      re.DOTALL)[1]
    assert shown == (HERE / "debian-app" / "debian" / "rules").read_text()


def test_lintian_finds_no_errors(debs):
    """No errors and no warnings, of those that do not depend on who packs."""
    lintian = shutil.which("lintian")
    if lintian is None:
        pytest.skip("lintian is not installed: apt-get install lintian")
    result = subprocess.run([lintian, "--fail-on", "error,warning", "--suppress-tags",
                             WHOEVER + IF_NO_PAGES,
                             *debs.values()], text=True, capture_output=True, timeout=300,
                            check=False)
    assert result.returncode == 0, result.stdout + result.stderr
