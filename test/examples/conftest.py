"""The fixture of the examples' tests."""

import shutil

import pytest
from example import Project
from places import ROOT


@pytest.fixture(scope="session")
def project(tmp_path_factory):
    """project("meson"): a copy of examples/meson, each time another one, in a folder whose name
    has to be quoted where `name` is given."""

    def project(example: str, name: str | None = None) -> Project:
        folder = tmp_path_factory.mktemp(example) / (name or example)
        shutil.copytree(ROOT / "examples" / example, folder)
        return Project(folder)

    return project
