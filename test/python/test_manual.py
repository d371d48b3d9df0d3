"""The manual: examples that work, man pages and reference pages made of the same source."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import abilities
import pytest
from frontload.cli import main as cli
from frontload.cli import manual
from frontload.cli.manual import man, markdown
from frontload.cli.manual.page import Example, Page
from small_programs import SOURCE

VERBS = list(cli.VERBS)


@pytest.fixture(scope="module")
def pages(build) -> list[Page]:
    return manual.pages(cli.build_parser(), build / "bin")


def commands(page: Page) -> list[str]:
    """The commands of a page's examples, one a line."""
    return [command for example in page.examples
            for command in example.commands.replace("\\\n", " ").splitlines()]


def test_examples_are_command_lines(pages):
    assert len(pages) >= 1 + len(VERBS) + 6
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


# What an example has that is not run here, and why.
NOT_RUN = {
    "sudo": "needs a device", "measure": "takes many runs", "faults": "needs perf",
    "report": "needs perf", "--data": "takes valgrind", "--format": "needs logs of other tools",
    "help": "shows a pager", "traces/app.1234.fltrace": "is a process of its reader",
    "PREFIX/": "is a place of its reader", "init": "needs a build", "auto": "needs a build",
    "cargo": "needs a crate", "/configure": "needs a source tree", "make": "needs a makefile",
    "cmake": "needs a source tree", "meson": "needs a source tree",
    "--until-listening": "needs a server", "--files": "needs root", "lists": "needs such lists",
    "10,clang.files": "needs such lists", "kept.files": "needs such lists",
    "debian/tmp": "needs a package", "blame": "needs a repository",
    "frontload-lazyfs": "needs a folder", "--pid": "needs a process",
}
# In which order the pages' examples can be run; check is last, because it is to find a front.
FIRST, LAST = ("frontload", "frontload record", "frontload profile"), "frontload check"


def test_examples_run(pages, run, cli, build, llvm, tmp_path, monkeypatch):
    """What an example says can be done is done, in a folder that has its files."""
    def link(name: str, *options: str) -> None:
        run(llvm / "clang", "app.o", "-o", name, f"--ld-path={build / 'bin' / 'ld.frontload'}",
            *options, cwd=tmp_path)

    (tmp_path / "app.c").write_text("int serve_requests(void);\n" + SOURCE.replace(
        "return argc - 1", "return serve_requests()")
        + "__attribute__((noinline)) int serve_requests(void) { return 0; }\n")
    run(llvm / "clang", "-ffunction-sections", "-fdata-sections", "-c", "app.c", cwd=tmp_path)
    link("app", "-Wl,-Map=app.map")
    link("server")
    for folder in ("everyday", "rare"):
        (tmp_path / folder).mkdir()
        run(build / "bin" / "frontload-trace", f"--output={folder}/app.fltrace", "--", "./app",
            cwd=tmp_path)
    for number, folder in enumerate(("monday", "tuesday"), 1):
        (tmp_path / folder).mkdir()
        link(f"{folder}/app", "-Wl,--build-id", f"-Wl,--shuffle-sections=.text.*={number}")
        run(build / "bin" / "frontload", "record", "--sample", "-o", "samples", "--",
            f"{folder}/app", cwd=tmp_path)
    (tmp_path / "old.order").write_text("main\nf1\nf2\nhelper\n")
    monkeypatch.setenv("PATH", f"{build / 'bin'}:{llvm}:{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    ran = set()
    for page in sorted(pages, key=lambda page: (page.name == LAST, page.name not in FIRST)):
        if page.name == LAST:
            link("app", "-Wl,--startup-profile=app.startup")
        for command in commands(page):
            if command in ran or any(
                    re.search(rf"(?:^|[ .]){re.escape(word)}", command) for word in NOT_RUN):
                continue
            # Here, which is quicker, unless the shell is needed or this process would be another.
            if re.fullmatch(r"frontload (?!run )[^$|]*", command):
                cli(*shlex.split(command)[1:])
            else:
                run("sh", "-c", command)
            ran.add(command)
    assert len(ran) >= 20


@pytest.mark.parametrize("checker", [("groff", "-ww", "-man", "-z", "-Tutf8"),
                                     ("mandoc", "-T", "lint")])
def test_man_pages_render_without_warnings(pages, run, tmp_path, monkeypatch, checker):
    abilities.need(f"program:{checker[0]}")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    files = []
    for each in manual.documents(pages):
        files.append(tmp_path / f"{each[0].file_name}.1")
        files[-1].write_text(man.render(*each))
    result = run(*checker, *files)
    assert result.stdout + result.stderr == ""


HOSTILE = Page("frontload", "does 'it'", ("frontload [-x]",),
               ".SH not a *request*\n'nor this \\fB, with --x-y\n\n  .literal \\n\n  'quoted'",
               examples=(Example(".dots", ".dot\n'quote \\"),))


@abilities.needs("program:groff")
def test_nothing_is_made_of_the_text_of_a_page(run, tmp_path):
    """Dots, quotes and backslashes in help come out in the man page as they are."""
    (tmp_path / "x.1").write_text(man.render(HOSTILE))
    shown = run("groff", "-ww", "-man", "-Tascii", "-P-cbou", tmp_path / "x.1")
    for text in (".SH not a *request* 'nor this \\fB, with --x-y", ".literal \\n", "'quoted'",
                 ".dot", "'quote \\"):
        assert text in shown.stdout
    assert shown.stderr == ""
    assert "a \\*request\\*" in markdown.render(HOSTILE)


def test_the_manual_is_installed(run, build, tmp_path):
    """cmake --install puts man pages and completions where man and the shells look for them."""
    abilities.need("built:share/man/man1/frontload.1")
    run("cmake", f"-DCMAKE_INSTALL_PREFIX={tmp_path / 'prefix'}", "-P",
        build / "scripts" / "cmake_install.cmake")
    (tmp_path / "prefix").rename(tmp_path / "moved")
    share = tmp_path / "moved/share"
    assert {f"frontload-{verb}.1" for verb in VERBS} <= {
        path.name for path in (share / "man" / "man1").iterdir()}
    for name in ("man/man1/frontload-trace.1", "bash-completion/completions/frontload-trace",
                 "zsh/site-functions/_frontload-trace",
                 "fish/vendor_completions.d/frontload-trace.fish"):
        assert (share / name).is_file()
    (tmp_path / "link").symlink_to(tmp_path / "moved/bin/frontload")
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    assert run(tmp_path / "link", "--version", env=clean).stdout.startswith("frontload 0.")
    scripts = Path(__file__).parents[2] / "scripts/frontload"
    assert {path.relative_to(scripts) for path in scripts.rglob("*.py")} == {
        path.relative_to(tmp_path / "moved/lib/frontload/python/frontload")
        for path in (tmp_path / "moved/lib/frontload/python/frontload").rglob("*.py")}


def test_the_same_manual_is_written_again(build, tmp_path):
    """python3 -m frontload.cli.manual writes the same bytes, and leaves what is there alone."""
    command = [sys.executable, "-m", "frontload.cli.manual", "--bin", build / "bin",
               "--man", tmp_path, "--markdown", tmp_path, "--completions", tmp_path]
    states = []
    for locale in ("C", "C.UTF-8"):
        subprocess.run(command, check=True, env={**os.environ, "LC_ALL": locale})
        states.append({path: (path.read_bytes(), path.stat().st_mtime_ns)
                       for path in tmp_path.rglob("*") if path.is_file()})
    assert states[0] == states[1] and len(states[0]) > 50
