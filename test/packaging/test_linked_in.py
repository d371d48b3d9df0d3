"""The list of what static programs have linked in, and its licenses: those of the packages here."""

import json
import subprocess
import sys

import linked_in
import pytest
from abilities import needs
from trees import checked, clean_environment, version


def listed(output, **environment) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, linked_in.__file__, output, version(), "cc", "22", ""],
                          capture_output=True, text=True, env=clean_environment(**environment))


@needs("program:dpkg-query")
@pytest.mark.parametrize("component", linked_in.LINKED)
def test_it_names_each_package_with_its_version(tmp_path, component):
    """With a relationship for each, and with its license beside the list."""
    ran = listed(tmp_path, SOURCE_DATE_EPOCH="1700000000")
    assert ran.returncode == 0, ran.stderr
    [path] = (tmp_path / component).glob("*.json")
    said = json.loads(path.read_text())
    assert said["creationInfo"]["created"] == "2023-11-14T22:13:20Z"
    ours, *packages = said["packages"]
    assert ours["versionInfo"] == version() and len(packages) == len(linked_in.LINKED[component])
    for package in packages:
        assert package["versionInfo"] == checked(
            "dpkg-query", "-W", "-f", "${Version}\n", package["name"]).splitlines()[0]
        assert (tmp_path / component / "licenses" / package["name"]).read_text().strip()
    assert [each["relatedSpdxElement"] for each in said["relationships"][1:]] == \
        [package["SPDXID"] for package in packages]


def test_what_is_not_installed_is_an_error(tmp_path):
    """A list with a gap would be wrong."""
    query = tmp_path / "dpkg-query"
    query.write_text("#!/bin/sh\necho 'dpkg-query: no packages found' >&2\nexit 1\n")
    query.chmod(0o755)
    ran = listed(tmp_path / "made", PATH=f"{tmp_path}:/usr/bin:/bin")
    assert ran.returncode != 0
    assert "llvm-22-dev is not installed" in ran.stderr
