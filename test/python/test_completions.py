"""Completions in real shells: what is there after a Tab, in bash, zsh and fish.

bash and zsh run on a terminal of their own. Each line is typed, completed, and made the arguments
of an echo, whose output tells that the shell is ready for the next one.
"""

import os
import re
import select
import shutil
from pathlib import Path

import pytest
from frontload.cli import completions, manual
from frontload.cli.completions import kinds
from frontload.cli.main import build_parser
from frontload.cli.manual.page import Argument, Group, Page

FILES = ("a.startup", "a.000", "t.fltrace", "t.txt", "before.json", "before.txt", "m.map", "m.txt")
# What is typed, and what comes of it; the decoys in FILES are of the wrong kind.
CASES = [
    ("frontload chec", "check"),
    ("frontload check --prof", "--profile"),
    ("frontload check --profile a", "a.startup"),
    ("frontload check --profile=a", "--profile=a.startup"),
    ("frontload diff a", "a.startup"),
    ("frontload blame a", "a.startup"),
    ("frontload profile --map m", "m.map"),
    ("frontload profile t", "t.fltrace"),
    ("frontload measure --device h", "hdd"),
    ("frontload measure --device=h", "--device=hdd"),
    ("frontload import --format uf", "uftrace"),
    ("frontload predict --variant new=pro", "new=prog"),
    ("frontload report be", "before.json"),
    ("frontload report x=be", "x=before.json"),
    ("frontload report -o x.html --variant a=b -- ./p", "./prog"),
    ("frontload report -- ls --recu", "--recursive"),
    ("frontload record -o di", "dir/"),
    ("frontload record -o dir ./p", "./prog"),
    ("frontload record --until x -- ./p", "./prog"),
    ("frontload record --until=x -- ls --sort=size --recu", "--recursive"),
    ("frontload run -- ls --recu", "--recursive"),
    ("frontload help che", "check"),
    ("frontload cargo bui", "build"),
    ("frontload cargo build --pref", "--prefetch"),
    ("frontload auto -- ./p", "./prog"),
    ("frontload-trace --summ", "--summary"),
    ("frontload-trace --module=x -- ./p", "./prog"),
    ("frontload-cc --mode=re", "--mode=record"),
    ("frontload-cc --mode=use ls --recu", "--recursive"),
    ("ld.frontload --startup-profile=a", "--startup-profile=a.startup"),
    ("ld.frontload --front-pre", "--front-prefetch"),
]


@pytest.fixture(scope="module")
def share(tmp_path_factory) -> Path:
    """The share of a prefix that is not where the completions were made for: they know no place."""
    build = Path(os.environ.get("FRONTLOAD_BUILD", "build"))
    folder = tmp_path_factory.mktemp("moved prefix") / "share"
    for name, texts in completions.render(manual.pages(build_parser(), build / "bin")).items():
        (folder / name).mkdir(parents=True)
        for file, text in texts.items():
            (folder / name / file).write_text(text)
    return folder


@pytest.fixture
def folder(tmp_path, monkeypatch, build) -> Path:
    """The current folder: files of all kinds, a program, and a home without settings."""
    work = tmp_path / "work"
    (work / "dir").mkdir(parents=True)
    for name in FILES:
        (work / name).touch()
    (work / "prog").write_text("#!/bin/sh\n")
    (work / "prog").chmod(0o755)
    (tmp_path / "home").mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setenv("PATH", f"{build / 'bin'}:{os.environ['PATH']}")
    for name in ("HOME", "ZDOTDIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    return work


class Shell:
    """An interactive shell that is typed into."""

    def __init__(self, spawn, *command, **environment):
        self._terminal, theirs = os.openpty()
        spawn(*command, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
              env={**os.environ, "TERM": "dumb", "COLUMNS": "200", **environment})
        os.close(theirs)
        self._seen = b""

    def type(self, text: str) -> None:
        os.write(self._terminal, text.encode())

    def read(self) -> str:
        """The next line that an echo of @@ has written."""
        while not (match := re.search(rb"(?:^|[\r\n])@@ ([^\r\n]*)\r*\n", self._seen)):
            assert select.select([self._terminal], [], [], 120)[0], self._seen
            self._seen += os.read(self._terminal, 4096)
        self._seen = self._seen[match.end():]
        return match[1].decode().rstrip()

    def completed(self, line: str) -> str:
        self.type(f"{line}\t\x01echo @@ \r")
        return self.read()


def check(shell: Shell) -> None:
    for typed, wanted in CASES:
        words = typed.split()
        assert shell.completed(typed).split() == [*words[:-1], wanted], typed


def test_bash(share, folder, spawn):
    """bash-completion finds our files beside others (XDG_DATA_DIRS), and each Tab does its work."""
    library = Path("/usr/share/bash-completion/bash_completion")
    if shutil.which("bash") is None or not library.is_file():
        pytest.skip("bash or bash-completion is not installed")
    shell = Shell(spawn, "bash", "--norc", "--noprofile", "-i", PS1="", INPUTRC="/dev/null",
                  XDG_DATA_DIRS=str(share))
    shell.type(f". {library}; echo @'@' ready\r")
    assert shell.read() == "ready"
    check(shell)


def test_zsh(share, folder, spawn):
    """With our folder in fpath, each Tab does its work in zsh."""
    if shutil.which("zsh") is None:
        pytest.skip("zsh is not installed")
    shell = Shell(spawn, "zsh", "-f", "-i", PS1="", PROMPT="", SHARE=str(share))
    shell.type("PROMPT= PROMPT_SP=; unsetopt prompt_sp auto_remove_slash; bindkey -e; "
               "fpath=($SHARE/zsh/site-functions $fpath); autoload -Uz compinit; compinit -u -D; "
               "echo @'@' ready\r")
    assert shell.read() == "ready"
    check(shell)


def test_fish(share, folder, run):
    """fish finds our files beside others (XDG_DATA_DIRS), and completes with them."""
    if shutil.which("fish") is None:
        pytest.skip("fish is not installed")
    environment = {**os.environ, "XDG_DATA_DIRS": f"{share}:/usr/share"}
    script = "".join(f"complete -C '{typed}'; echo @@;" for typed, _ in CASES)
    answers = run("fish", "-c", script, env=environment).stdout.split("@@\n")
    for (typed, wanted), answer in zip(CASES, answers, strict=False):
        # Files of another kind may come after those of the right one.
        assert answer.split("\n")[0].split("\t")[0] == wanted, (typed, answer)


@pytest.mark.parametrize(("shell", "folder_of_shell"), [
    ("bash", "bash-completion/completions"), ("zsh", "zsh/site-functions"),
    ("fish", "fish/vendor_completions.d")])
def test_every_shell_can_read_its_files(share, run, shell, folder_of_shell):
    """No file has an error of syntax, and there is one for the command and each program."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    files = list((share / folder_of_shell).iterdir())
    assert len(files) >= 7
    for file in files:
        result = run(shell, "-n", file)
        assert result.stdout + result.stderr == "", file


def test_help_with_quotes_stays_text(tmp_path, run):
    """A help text with quotes, brackets, colons and backslashes is no syntax to any shell."""
    text = "it's [a] \"thing\": `x` $(touch pwned) \\ %s"
    page = Page("frontload", text, ("frontload",), text, (Group("options", "", (
        Argument(("--x",), "FILE", text), Argument(("-y",), "{a,b}", text, ("a", "b")))),))
    verb = Page("frontload do", text, ("frontload do",), text, page.groups)
    for shell, texts in zip(("bash", "zsh", "fish"),
                            completions.render([page, verb]).values(), strict=True):
        if shutil.which(shell) is None:
            continue
        for name, script in texts.items():
            (tmp_path / name).write_text(script)
            run(shell, "-n", tmp_path / name)
            if shell != "zsh":
                run(shell, "-c", f". ./{name}", cwd=tmp_path)
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize(("argument", "kind"), [
    (Argument(("--profile",), "FILE", ""), kinds.Kind(is_file=True, pattern="*.startup")),
    (Argument(("--profile",), "NAME", ""), None),
    (Argument(("-o",), "FILE.html", ""), kinds.Kind(is_file=True, pattern="*.html")),
    (Argument((), "OLD", ""), kinds.Kind(is_file=True, pattern="*.startup")),
    (Argument((), "TRACE...", ""), kinds.Kind(is_file=True, pattern="*.fltrace")),
    (Argument(("--keep",), "FOLDER", ""), kinds.Kind(is_folder=True)),
    (Argument((), "COMMAND...", ""), kinds.Kind(is_command=True)),
    (Argument(("--variant",), "NAME=BINARY", ""), kinds.Kind(is_file=True, is_named=True)),
    (Argument(("--runs",), "N", ""), None),
    (Argument(("--json",), "", ""), None),
])
def test_the_name_of_a_value_tells_what_it_is(argument, kind):
    """Completions know kinds of values by their names, which new verbs use too."""
    assert kinds.of(argument) == kind
