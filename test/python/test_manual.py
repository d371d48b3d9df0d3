"""The manual: its examples are command lines, and its man pages are right."""

import os
import re
import shlex
from pathlib import Path

import pytest
from abilities import needs
from frontload.cli import main as cli
from frontload.cli import manual
from frontload.cli.manual import Page


@pytest.fixture(scope="module")
def pages(build) -> list[Page]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "80")
        return manual.pages(build / "bin")


def commands(page: Page) -> list[str]:
    """The commands of a page's examples, one a line."""
    examples = re.search(r"^examples:\n((?:  .*\n)+)", page.help.replace("\\\n", " "), re.MULTILINE)
    lines = examples[1].splitlines() if examples else []
    return [line.strip() for line in lines if not line.startswith("  # ")]


def test_examples_are_command_lines(pages):
    assert len(pages) >= 1 + len(cli.VERBS) + 6
    for page in pages:
        assert not commands(page) or any(page.name in command for command in commands(page))
        known = set(re.findall(r"(?<![\w-])-[\w-]+", page.help.partition("\nexamples:")[0]))
        for command in commands(page):
            words = shlex.split(command.partition(" | ")[0].removeprefix("sudo "), comments=True)
            if words[0] == "frontload":
                cli.verb_parser(words[1]).parse_args(words[2:])
            elif words[0] == page.name:
                own = words[1:words.index("--")] if "--" in words else words[1:]
                used = {word.partition("=")[0] for word in own if word.startswith("-")}
                assert used <= known, command


@needs("program:help2man", "program:groff")
def test_man_pages_render_without_warnings(pages, run, tmp_path):
    """Of a verb, and of both forms that native programs write: all sections have a heading."""
    for name in ("frontload check", "frontload-run", "frontload-resolve", "ld.frontload"):
        page = next(page for page in pages if page.name == name)
        (tmp_path / "page.1").write_text(manual.man_page(page))
        result = run("groff", "-ww", "-man", "-Tascii", "-P-cbou", tmp_path / "page.1")
        assert result.stderr == ""
        headings = re.findall("^[A-Z][A-Z ]+$", result.stdout, re.MULTILINE)
        assert {"NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS",
                "EXAMPLES"} <= set(headings), name
        assert all(re.search(rf"\$ +{re.escape(command.split()[0])} ", result.stdout)
                   for command in commands(page))


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
