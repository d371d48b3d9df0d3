"""The manual: examples that work, man pages and reference pages made of the same source."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import SOURCE
from frontload.cli import main as cli
from frontload.cli import manual
from frontload.cli.manual import man, markdown, programs
from frontload.cli.manual.page import Example, Page, examples_of

VERBS = list(cli.VERBS)


@pytest.fixture(scope="module")
def pages() -> list[Page]:
    return manual.pages(cli.build_parser(), Path(os.environ.get("FRONTLOAD_BUILD", "build"), "bin"))


def commands(page: Page) -> list[str]:
    """The commands of a page's examples, one a line."""
    return [command for example in page.examples
            for command in example.commands.replace("\\\n", " ").splitlines()]


def test_every_verb_and_program_has_an_example(pages):
    """No page is without a command that can be typed, and that is one of the page's own."""
    assert len(pages) >= 1 + len(VERBS) + 6
    for page in pages:
        assert any(page.name in command for command in commands(page)), page.name


def test_examples_parse(pages):
    """Each `frontload VERB` in an example is a command line that the verb takes."""
    parsed = 0
    for page in pages:
        for command in commands(page):
            typed = command.partition(" | ")[0].removeprefix("sudo ")
            typed = re.sub("^cargo frontload ", "frontload cargo ", typed)
            words = shlex.split(typed, comments=True)
            if words[0] == "frontload":
                assert cli.build_parser().parse_args(words[1:]).verb == words[1]
                parsed += 1
    assert parsed > len(VERBS)


def test_options_in_the_examples_of_programs_exist(pages):
    """An example of a native program uses options that its help lists."""
    of_programs = {page.name: page for page in pages[1:] if " " not in page.name}
    for page in of_programs.values():
        known = {flag for option in page.options() for flag in option.flags}
        for command in commands(page):
            words = shlex.split(command, comments=True)
            if words[0] == page.name:
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


def test_descriptions_have_no_examples_of_their_own(pages):
    """Examples are kept in one place for each verb: its EXAMPLES."""
    for page in pages:
        if page.name.startswith("frontload "):
            assert f"\n  {page.name}" not in page.description, page.name


def test_an_example_is_a_comment_and_the_commands_below_it():
    """Commands belong to the comment above them, wherever lines are empty or continued."""
    assert examples_of("a --b\n# says\n# more\nc \\\n  d\ne\n\n# last\nf\n") == (
        Example("", "a --b"), Example("says more", "c \\\n  d\ne"), Example("last", "f"))


@pytest.mark.parametrize("checker", [("groff", "-ww", "-man", "-z", "-Tutf8"),
                                     ("mandoc", "-T", "lint")])
def test_man_pages_render_without_warnings(pages, tmp_path, monkeypatch, checker):
    """groff and mandoc have nothing to complain of in any page."""
    if shutil.which(checker[0]) is None:
        pytest.skip(f"{checker[0]} is not installed")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    files = []
    for each in manual.documents(pages):
        files.append(tmp_path / f"{each[0].file_name}.1")
        files[-1].write_text(man.render(*each))
    result = subprocess.run([*checker, *files], capture_output=True, text=True, timeout=60)
    assert result.stdout + result.stderr == ""


HOSTILE = Page("frontload", "does 'it'", ("frontload [-x]",),
               ".SH not a request\n'nor this \\fB, with --x-y\n\n  .literal \\n\n  'quoted'",
               examples=(Example(".dots", ".dot\n'quote \\"),))


def test_roff_makes_nothing_of_the_text_of_a_page(run, tmp_path):
    """Dots, quotes and backslashes in help come out in the man page as they are."""
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed")
    (tmp_path / "x.1").write_text(man.render(HOSTILE))
    shown = run("groff", "-ww", "-man", "-Tascii", "-P-cbou", tmp_path / "x.1")
    for text in (".SH not a request 'nor this \\fB, with --x-y", ".literal \\n", "'quoted'", ".dot",
                 "'quote \\"):
        assert text in shown.stdout
    assert shown.stderr == ""


def test_pages_do_not_depend_on_when_they_are_made(pages, monkeypatch):
    """A man page has the date of SOURCE_DATE_EPOCH, or none."""
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    assert man.render(pages[0]).startswith('.TH "FRONTLOAD" 1 "" "Frontload ')
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert man.render(pages[0]).startswith('.TH "FRONTLOAD" 1 "1970-01-02"')


def test_everything_that_help_knows_is_in_the_pages(pages, cli):
    """Each option, its help, each section and example of --help is in the man page and on the web
    page."""
    for each in manual.documents(pages):
        roff, marked = man.render(*each), markdown.render(*each)
        for page in each:
            for argument in page.arguments():
                for form in argument.shown():
                    assert form.replace("-", "\\-") in roff and f"`{form}`" in marked
            for section in page.sections:
                assert section.title.upper() in roff
                assert all(f"`{term}`" in marked for term, _ in section.terms)
            for command in commands(page):
                assert command.split("--")[0] in marked.replace("\\\n", " ")
    shown = cli("record", "--help").out
    assert "examples:\n  # " in shown and "exit status:\n  1 " in shown


def test_a_verb_and_the_program_of_its_name_share_a_page(pages):
    """frontload run and frontload-run are one man page, because man knows no spaces."""
    both = [each for each in manual.documents(pages) if each[0].file_name == "frontload-run"]
    assert [page.name for page in both[0]] == ["frontload run", "frontload-run"]
    assert "THE PROGRAM frontload\\-run" in man.render(*both[0])
    assert "## The program frontload-run" in markdown.render(*both[0])


def test_verbs_of_a_verb_are_on_its_page(pages):
    """frontload cargo has verbs itself: their usage and options, each group once."""
    (page,) = [page for page in pages if page.name == "frontload cargo"]
    assert [usage.split()[2] for usage in page.synopsis] == ["record", "profile", "build"]
    titles = [group.title for group in page.groups]
    assert "record: options" in titles and "record, profile, build: options of cargo" in titles


def test_links_between_reference_pages_lead_somewhere(pages):
    """Each page that is linked to is written."""
    written = {f"{page.file_name}.md" for page in pages}
    texts = [markdown.render(*each) for each in manual.documents(pages)]
    linked = {link for text in [*texts, markdown.render_index(pages)]
              for link in re.findall(r"\]\(([^)]*)\)", text)}
    assert linked == written


def test_markdown_makes_nothing_of_the_text_of_a_page():
    """What Markdown would take for itself is escaped outside of code."""
    text = markdown.render(replace(HOSTILE, description="a *b* _c_ <d> [e] `f*g`"))
    assert "a \\*b\\* \\_c\\_ \\<d\\> \\[e\\] `f*g`" in text


def test_the_help_of_a_program_is_read(pages):
    """Options with values and choices, sections and examples, up to where another's help begins."""
    page = programs.page_of("tool", """\
usage: tool [options] FILE

Does things. And more: of them.

options:
  --mode=off|on        whether
                       it does
  -o FILE, --output=FILE
                       where to
  --level[=N]          how much (repeatable)

examples:
  # try it
  tool x

exit status:
  0    done

All else is of another:

OPTIONS:
  --theirs             not ours
""")
    assert (page.summary, page.synopsis) == ("does things", ("tool [options] FILE",))
    mode, output, level = page.options()
    assert (mode.flags, mode.choices, mode.help) == (("--mode",), ("off", "on"), "whether it does")
    assert output.shown() == ["-o FILE", "--output=FILE"]
    assert level.is_value_optional and level.is_repeatable and level.shown() == ["--level[=N]"]
    assert page.examples == (Example("try it", "tool x"),)
    assert [(each.title, each.terms) for each in page.sections] == [
        ("exit status", (("0", "done"),))]


def test_the_manual_is_installed(run, build, tmp_path):
    """cmake --install puts man pages and completions where man and the shells look for them."""
    if not list(build.glob("share/man/man1/*.1")):
        pytest.skip("the build has no man pages: its Python lacked packages, as CMake has said")
    run("cmake", f"-DCMAKE_INSTALL_PREFIX={tmp_path}", "-P",
        build / "scripts" / "cmake_install.cmake")
    share = tmp_path / "share"
    assert {f"frontload-{verb}.1" for verb in VERBS} <= {
        path.name for path in (share / "man" / "man1").iterdir()}
    for name in ("frontload", "frontload-trace", "ld.frontload"):
        assert (share / "man" / "man1" / f"{name}.1").is_file()
        assert (share / "bash-completion" / "completions" / name).is_file()
        assert (share / "zsh" / "site-functions" / f"_{name}").is_file()
        assert (share / "fish" / "vendor_completions.d" / f"{name}.fish").is_file()


def test_the_same_manual_is_written_again(build, tmp_path):
    """python3 -m frontload.cli.manual writes the same bytes, and leaves what is there alone."""
    command = [sys.executable, "-m", "frontload.cli.manual", "--bin", build / "bin",
               "--man", tmp_path, "--markdown", tmp_path, "--completions", tmp_path]
    states = []
    for locale in ("C", "C.UTF-8"):
        subprocess.run(command, check=True, timeout=60, env={**os.environ, "LC_ALL": locale})
        states.append({path: (path.read_bytes(), path.stat().st_mtime_ns)
                       for path in tmp_path.rglob("*") if path.is_file()})
    assert states[0] == states[1] and len(states[0]) > 50
