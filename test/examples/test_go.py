"""examples/go: a Go program with a part in C, linked by Go's external linking."""

import pytest
from abilities import needs
from places import CACHE

pytestmark = needs("ptrace", "program:go")
_PROFILE = "startup/census.startup"
_WORDS = "to be or not to be"
_COUNTED = "to 2\nbe 2\nor 1\nnot 1\n"


@pytest.fixture(scope="module")
def trained(project):
    """The example with its profile written, linked with a front; Go's compiled library is kept for
    the next time."""
    go = project("go")
    go.environment.update(GOCACHE=str(CACHE / "go"), GOFLAGS="-mod=mod", GOPROXY="off")
    go.make("FRONTLOAD=record", "train")
    go.make("FRONTLOAD=use")
    return go


def test_a_recorded_program_is_linked_with_a_front(trained):
    """And again when its profile has changed, but not if nothing has."""
    trained.has_front("census", _PROFILE)
    before = trained.identity("census")
    trained.make("FRONTLOAD=use")
    assert trained.identity("census") == before
    trained.change(_PROFILE)
    trained.make("FRONTLOAD=use")
    assert trained.identity("census") != before
    trained.has_front("census", _PROFILE)


def test_it_counts_as_before_while_garbage_is_collected(trained):
    """The runtime walks all stacks for that, by its tables of functions and constants."""
    assert trained.run("./census", input=_WORDS).stdout == _COUNTED
    words = "".join(f"{number}\n" for number in range(60_000))
    counted = trained.run("./census", input=words).stdout
    assert counted == "".join(f"{number} 1\n" for number in range(60_000))


def test_the_front_is_asked_for_by_frontload_run(trained):
    ran = trained.run("frontload-run", "--verbose", "./census", input=_WORDS)
    assert ran.stdout == _COUNTED and "./census: " in ran.stderr


def test_off_builds_plainly(trained):
    trained.make()
    assert not trained.is_linked_by_lld("census")
    assert trained.run("./census", "--test").stdout == "all right\n"
