"""What tests of the PGO workflow share: one training run for each compiler."""

import pytest
from shared_run import COMPILERS, SharedRun, run_once


@pytest.fixture(scope="session", params=COMPILERS)
def shared(request, tmp_path_factory) -> SharedRun:
    """Both profiles, from one run of `tool late one`, and tool.o compiled with the PGO profile."""
    run = run_once(tmp_path_factory.mktemp(request.param), request.param, "late", "one")
    run.compile(*run.use_flags, "-Werror")
    return run
