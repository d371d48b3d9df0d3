"""examples/bazel, with Debian's Bazel (4.2.3), without network."""

import subprocess
from pathlib import Path

import pytest
from abilities import needs
from places import BUILD

pytestmark = [pytest.mark.slow, needs("ptrace", "program:bazel")]
_PROFILE = "startup/roman.startup"
_RULES = Path(__file__).parent / "bazel"


@pytest.fixture(scope="module")
def bazel(project, tmp_path_factory):
    """bazel(command, *options): what Bazel says, and of what it builds. A server of its own keeps
    what each call would load again; it ends by itself, too, if nobody is left to say so."""
    version = subprocess.run(["bazel", "--version"], capture_output=True, text=True).stdout
    # Debian's does not know which one it is.
    if not version.startswith(("bazel 4.", "bazel no_version")):
        pytest.skip(f"the stand-ins for what it would download are for Bazel 4, not for {version}")
    project = project("bazel")
    startup = ("bazel", f"--output_user_root={tmp_path_factory.mktemp('bazel-root')}",
               "--max_idle_secs=300")
    # What is not on this machine, Bazel would download.
    rules = (f"--override_repository={each.name}={each}" for each in sorted(_RULES.iterdir()))
    always = (*rules, "--color=no", "--curses=no", "--nosandbox_debug")

    def bazel(command: str, *options: str) -> str:
        return project.run(*startup, command, *always, *options, stderr=subprocess.STDOUT).stdout

    bazel.project = project
    yield bazel
    project.run(*startup, "shutdown")


def test_off_and_without_a_profile_links_plainly(bazel):
    with pytest.raises(AssertionError, match="off, record or use is expected, not yes"):
        bazel("build", "--//frontload:mode=yes", "//:roman")
    bazel("build", "//:roman")
    assert bazel.project.run("bazel-bin/roman", "1984").stdout == "MCMLXXXIV\n"
    assert not bazel.project.is_linked_by_lld("bazel-bin/roman")
    bazel("build", "--config=use", "//:roman")
    assert bazel.project.run("bazel-bin/roman", "MMXXVI").stdout == "2026\n"


def test_a_recorded_program_is_linked_with_a_front(bazel):
    """It is only linked, and again when its profile has changed."""
    bazel("run", "--config=record", "//:roman_train")
    said = bazel("build", "--config=use", "--subcommands", "//:roman")
    assert "Linking roman" in said and "Compiling" not in said
    bazel.project.has_front("bazel-bin/roman", _PROFILE)
    assert bazel.project.run("bazel-bin/roman", "1984", "MMXXVI").stdout == "MCMLXXXIV\n2026\n"
    assert "Linking" not in bazel("build", "--config=use", "--subcommands", "//:roman")
    bazel.project.change(_PROFILE)
    said = bazel("build", "--config=use", "--subcommands", "//:roman")
    assert "Linking roman" in said and "Compiling" not in said


_NOTED = f"""
load("@rules_cc//cc:defs.bzl", "cc_binary")
cc_binary(
    name = "noted",
    srcs = ["src/main.cc"],
    linkopts = ["{BUILD}/lib/frontload/note.o", "-Wl,--no-as-needed", "-L{BUILD}/lib",
                "-lfrontload-prefetch"],
    deps = [":numerals"],
)
genrule(
    name = "finish",
    srcs = ["noted", "{_PROFILE}"],
    outs = ["finished"],
    cmd = "cp $(location noted) $@ && chmod u+w $@ && " +
          "{BUILD}/bin/frontload finish $@ --profile $(location {_PROFILE})",
)
"""


def test_the_linker_of_the_build(bazel):
    bazel("run", "--config=record", "//:roman_train")
    with (bazel.project.folder / "BUILD.bazel").open("a") as file:
        file.write(_NOTED)
    bazel("build", "//:finish")
    bazel.project.asks_for_its_start("bazel-bin/finished", "1984")
