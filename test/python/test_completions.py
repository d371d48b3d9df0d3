"""Completions in real shells: what is there after a Tab, in bash, zsh and fish.

bash and zsh run on a terminal of their own. Each line is typed, completed, and made the arguments
of an echo, whose output tells that the shell is ready for the next one.
"""

import os
import re
from pathlib import Path

import abilities
import pytest
from frontload.cli import completions, manual
from frontload.cli.main import build_parser

# What is typed, and what comes of it; the decoys in the folder are of the wrong kind.
CASES = [
    ("frontload chec", "check"),
    ("frontload check --prof", "--profile"),
    ("frontload check --profile=a", "--profile=a.startup"),
    ("frontload profile t", "t.fltrace"),
    ("frontload measure --device h", "hdd"),
    ("frontload predict --variant new=pro", "new=prog"),
    ("frontload record -o di", "dir/"),
    ("frontload record --until x -- ./p", "./prog"),
    ("frontload cargo build --pref", "--prefetch"),
    ("frontload-cc --mode=re", "--mode=record"),
    ("ld.frontload --startup-profile=a", "--startup-profile=a.startup"),
]


@pytest.fixture
def share(tmp_path, monkeypatch, build) -> Path:
    """The share of a prefix that is not where the completions were made for. The current folder has
    files of all kinds, a program, and is a home without settings."""
    folder = tmp_path / "moved prefix" / "share"
    for name, texts in completions.render(manual.pages(build_parser(), build / "bin")).items():
        (folder / name).mkdir(parents=True)
        for file, text in texts.items():
            (folder / name / file).write_text(text)
    work = tmp_path / "work"
    (work / "dir").mkdir(parents=True)
    for name in ("a.startup", "a.000", "t.fltrace", "t.txt", "prog"):
        (work / name).touch(0o755 if name == "prog" else 0o644)
    monkeypatch.chdir(work)
    for name in ("HOME", "ZDOTDIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("PATH", f"{build / 'bin'}:{os.environ['PATH']}")
    return folder


@pytest.mark.parametrize(("command", "begin"), [
    (("bash", "--norc", "--noprofile", "-i"), ". /usr/share/bash-completion/bash_completion"),
    (("zsh", "-f", "-i"), "PROMPT= PROMPT_SP=; unsetopt prompt_sp auto_remove_slash; bindkey -e; "
     "fpath=($SHARE/zsh/site-functions $fpath); autoload -Uz compinit; compinit -u -D")],
    ids=["bash", "zsh"])
def test_a_tab_does_its_work(share, spawn, command, begin):
    """bash-completion finds our files by XDG_DATA_DIRS, and zsh in fpath."""
    abilities.need(f"program:{command[0]}")
    terminal, theirs = os.openpty()
    spawn(*command, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
          env={**os.environ, "TERM": "dumb", "COLUMNS": "200", "PS1": "", "INPUTRC": "/dev/null",
               "XDG_DATA_DIRS": str(share), "SHARE": str(share)})
    os.close(theirs)
    seen = b""

    def answer(typed: str) -> str:
        """The next line that an echo of @@ writes."""
        nonlocal seen
        os.write(terminal, typed.encode())
        while not (match := re.search(rb"(?:^|[\r\n])@@ ([^\r\n]*)\r*\n", seen)):
            seen += os.read(terminal, 4096)
        seen = seen[match.end():]
        return match[1].decode().rstrip()

    assert answer(f"{begin}; echo @'@' ready\r") == "ready"
    for typed, wanted in CASES:
        words = typed.split()
        assert answer(f"{typed}\t\x01echo @@ \r").split() == [*words[:-1], wanted], typed


def test_fish(share, run):
    """fish finds our files beside others (XDG_DATA_DIRS), and completes with them."""
    abilities.need("program:fish")
    environment = {**os.environ, "XDG_DATA_DIRS": f"{share}:/usr/share"}
    script = "".join(f"complete -C '{typed}'; echo @@;" for typed, _ in CASES)
    answers = run("fish", "-c", script, env=environment).stdout.split("@@\n")
    for (typed, wanted), answer in zip(CASES, answers, strict=False):
        # Files of another kind may come after those of the right one.
        assert answer.split("\n")[0].split("\t")[0] == wanted, (typed, answer)
