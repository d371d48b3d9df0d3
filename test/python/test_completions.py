"""Completions in a real bash: each line is typed, completed by a Tab, and made an echo's."""

import os
import re
from pathlib import Path

import pytest
from abilities import needs
from frontload.cli import manual

# What is typed, and what comes of it.
CASES = [
    ("frontload chec", "check"),
    ("frontload check --prof", "--profile"),
    ("frontload check --profile a", "a.startup"),
    ("frontload profile t", "t.fltrace"),
    ("frontload measure --device h", "hdd"),
    ("frontload record -o di", "dir/"),
    ("frontload record --until x -- ./p", "./prog"),
]


@pytest.fixture
def share(tmp_path, monkeypatch, build) -> Path:
    """A share elsewhere than they were made for; the current folder has files of all kinds."""
    folder = tmp_path / "moved prefix" / "share"
    pytest.importorskip("shtab")
    for place, text in manual.completions().items():
        (folder / place).parent.mkdir(parents=True)
        (folder / place).write_text(text)
    work = tmp_path / "work"
    (work / "dir").mkdir(parents=True)
    for name in ("a.startup", "t.fltrace", "prog"):
        (work / name).touch(0o755 if name == "prog" else 0o644)
    monkeypatch.chdir(work)
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("PATH", f"{build / 'bin'}:{os.environ['PATH']}")
    return folder


@needs("program:bash")
def test_a_tab_does_its_work(share, spawn):
    """bash-completion finds our files by XDG_DATA_DIRS."""
    terminal, theirs = os.openpty()
    spawn("bash", "--norc", "--noprofile", "-i", stdin=theirs, stdout=theirs, stderr=theirs,
          start_new_session=True, env={
              **os.environ, "TERM": "dumb", "COLUMNS": "200", "PS1": "",
              "INPUTRC": "/dev/null", "XDG_DATA_DIRS": str(share)})
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

    assert answer(". /usr/share/bash-completion/bash_completion; echo @'@' ready\r") == "ready"
    for typed, wanted in CASES:
        words = typed.split()
        assert answer(f"{typed}\t\x01echo @@ \r").split() == [*words[:-1], wanted], typed
