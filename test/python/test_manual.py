"""The manual: its examples are command lines, and its man pages are right."""

import os
import re
import shlex
from pathlib import Path

import pytest
from abilities import needs
from frontload.cli import main as cli
from frontload.cli import manual
from frontload.cli.manual import man
from frontload.cli.manual.page import Page


@pytest.fixture(scope="module")
def pages(build) -> list[Page]:
    return manual.pages(cli.build_parser(), build / "bin")


def commands(page: Page) -> list[str]:
    """The commands of a page's examples, one a line."""
    return [command for example in page.examples
            for command in example.commands.replace("\\\n", " ").splitlines()]


def test_examples_are_command_lines(pages):
    assert len(pages) >= 1 + len(cli.VERBS) + 6
    for page in pages:
        assert any(page.name in command for command in commands(page)), page.name
        known = {flag for option in page.options() for flag in option.flags}
        for command in commands(page):
            typed = command.partition(" | ")[0].removeprefix("sudo ")
            typed = re.sub("^cargo frontload ", "frontload cargo ", typed)
            words = shlex.split(typed, comments=True)
            if words[0] == "frontload":
                assert cli.build_parser().parse_args(words[1:]).verb == words[1]
            elif words[0] == page.name:
                own = words[1:words.index("--")] if "--" in words else words[1:]
                used = {word.partition("=")[0] for word in own if word.startswith("-")}
                assert used <= known, command


@needs("program:groff")
def test_man_pages_render_without_warnings(pages, run, tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    files = []
    for each in manual.documents(pages):
        files.append(tmp_path / f"{each[0].file_name}.1")
        files[-1].write_text(man.render(*each))
    result = run("groff", "-ww", "-man", "-z", "-Tutf8", *files)
    assert result.stdout + result.stderr == ""


@needs("built:share/man/man1/frontload.1")
def test_what_was_installed_may_be_moved(run, build, tmp_path):
    """cmake --install puts the whole package in place, which a link to the command finds."""
    run("cmake", f"-DCMAKE_INSTALL_PREFIX={tmp_path / 'prefix'}", "-P",
        build / "scripts" / "cmake_install.cmake")
    (tmp_path / "prefix").rename(tmp_path / "moved")
    (tmp_path / "link").symlink_to(tmp_path / "moved/bin/frontload")
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    assert run(tmp_path / "link", "--version", env=clean).stdout.startswith("frontload 0.")
    scripts = Path(__file__).parents[2] / "scripts/frontload"
    assert {path.relative_to(scripts) for path in scripts.rglob("*.py")} == {
        path.relative_to(tmp_path / "moved/lib/frontload/python/frontload")
        for path in (tmp_path / "moved/lib/frontload/python/frontload").rglob("*.py")}
