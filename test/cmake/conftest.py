"""Fixtures of the tests of the CMake package: projects that use it."""

import pytest
from projects import Project


@pytest.fixture
def project(tmp_path, run):
    """project(source, **options): an empty project (options: those of projects.Project)."""
    return lambda source=tmp_path / "project", **options: Project(source, run, **options)
