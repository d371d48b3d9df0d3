"""Fixtures of the tests of the CMake package: projects that use it."""

from pathlib import Path

import pytest
from projects import Project


@pytest.fixture
def project(tmp_path, run):
    """project(**options): an empty project of its own (options: those of projects.Project)."""

    def project(source: Path | None = None, **options) -> Project:
        return Project(source or tmp_path / "project", run, **options)

    return project
