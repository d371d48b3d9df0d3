"""examples/go: a Go program with a part in C, linked by Go's external linking."""

import pytest
from conftest import needs

_PROFILE = "startup/census.startup"
_WORDS = "to be or not to be"
_COUNTED = "to 2\nbe 2\nor 1\nnot 1\n"


@pytest.fixture(scope="module")
def trained(project, build):
    """The example with its profile written; Go's compiled library is kept for the next time."""
    needs("go", "golang-go")
    go = project("go")
    go.environment.update(GOCACHE=str(build / "go-cache"), GOFLAGS="-mod=mod",
                          GOPROXY="off")
    go.run("make", "FRONTLOAD=record", "train")
    return go


def test_a_recorded_program_is_linked_with_a_front(trained):
    trained.run("make", "FRONTLOAD=use")
    trained.has_front("census", _PROFILE)
    assert trained.run("./census", input=_WORDS).stdout == _COUNTED


def test_it_counts_as_before_while_garbage_is_collected(trained):
    # The runtime walks all stacks for that, by its tables of functions and constants.
    trained.run("make", "FRONTLOAD=use")
    words = "".join(f"{number}\n" for number in range(60_000))
    counted = trained.run("./census", input=words).stdout
    assert counted == "".join(f"{number} 1\n" for number in range(60_000))


def test_the_front_is_asked_for_by_frontload_run(trained):
    trained.run("make", "FRONTLOAD=use")
    ran = trained.run("frontload-run", "--verbose", "./census", input=_WORDS)
    assert ran.stdout == _COUNTED and "./census: " in ran.stderr


def test_without_changes_nothing_is_done_and_a_changed_profile_links(trained):
    trained.run("make", "FRONTLOAD=use")
    before = trained.identity("census")
    trained.run("make", "FRONTLOAD=use")
    assert trained.identity("census") == before
    trained.change(_PROFILE)
    trained.run("make", "FRONTLOAD=use")
    assert trained.identity("census") != before
    trained.has_front("census", _PROFILE)


def test_off_builds_plainly(trained):
    trained.run("make")
    assert "LLD" not in trained.run("readelf", "-p", ".comment", "census").stdout
    assert trained.run("./census", "--test").stdout == "all right\n"
