"""examples/bazel, with Debian's Bazel (4.2.3), without network."""

import subprocess
from pathlib import Path

import pytest
from conftest import needs

_PROFILE = "startup/roman.startup"
_RULES = Path(__file__).parent / "bazel"


class _Bazel:
    """A workspace, and a server of its own, which keeps what each call would load again."""

    def __init__(self, project, root: Path):
        self.project = project
        # It ends by itself, too, if nobody is left to say so.
        self._startup = ("bazel", f"--output_user_root={root}", "--max_idle_secs=300")
        # What is not on this machine, Bazel would download.
        self._options = (*(f"--override_repository={rules.name}={rules}"
                           for rules in sorted(_RULES.iterdir())),
                         "--color=no", "--curses=no", "--nosandbox_debug")

    def __call__(self, command: str, *options: str) -> str:
        """What Bazel says, and of what it builds."""
        return self.project.run(*self._startup, command, *self._options, *options,
                                stderr=subprocess.STDOUT).stdout

    def shut_down(self) -> None:
        self.project.run(*self._startup, "shutdown")


@pytest.fixture(scope="module")
def bazel(project, tmp_path_factory):
    needs("bazel", "bazel-bootstrap")
    version = subprocess.run(["bazel", "--version"], capture_output=True, text=True).stdout
    # Debian's does not know which one it is.
    if not version.startswith(("bazel 4.", "bazel no_version")):
        pytest.skip(f"the stand-ins for what it would download are for Bazel 4, not for {version}")
    bazel = _Bazel(project("bazel"), tmp_path_factory.mktemp("bazel-root"))
    yield bazel
    bazel.shut_down()


def test_off_builds_plainly(bazel):
    bazel("build", "//:roman")
    assert bazel.project.run("bazel-bin/roman", "1984").stdout == "MCMLXXXIV\n"
    comment = bazel.project.run("readelf", "-p", ".comment", "bazel-bin/roman").stdout
    assert "LLD" not in comment


def test_without_a_profile_use_links_plainly(bazel):
    bazel("build", "--config=use", "//:roman")
    assert bazel.project.run("bazel-bin/roman", "MMXXVI").stdout == "2026\n"


def test_a_wrong_mode_is_refused(bazel):
    with pytest.raises(AssertionError, match="off, record or use is expected, not yes"):
        bazel("build", "--//frontload:mode=yes", "//:roman")


def test_a_recorded_program_is_linked_with_a_front(bazel):
    bazel("run", "--config=record", "//:roman_train")
    said = bazel("build", "--config=use", "--subcommands", "//:roman")
    # Compiled as before: it is only linked.
    assert "Linking roman" in said and "Compiling" not in said
    bazel.project.has_front("bazel-bin/roman", _PROFILE)
    assert bazel.project.run("bazel-bin/roman", "1984", "MMXXVI").stdout == "MCMLXXXIV\n2026\n"


def test_without_changes_nothing_is_done_and_a_changed_profile_links(bazel):
    bazel("run", "--config=record", "//:roman_train")
    bazel("build", "--config=use", "//:roman")
    assert "Linking" not in bazel("build", "--config=use", "--subcommands", "//:roman")
    bazel.project.change(_PROFILE)
    said = bazel("build", "--config=use", "--subcommands", "//:roman")
    assert "Linking roman" in said and "Compiling" not in said
