"""Compilers that do nothing but tell how they were called, and frontload-cc before them."""

import os
import subprocess

import pytest

# Says what it was called with, a word a line, and which of the words are its own.
FAKE = "#!/bin/sh\nprintf '%s\\n' \"${0##*/}\" \"$@\"\n"


class Wrapper:
    """frontload-cc in a folder of its own, with fake compilers in PATH."""

    def __init__(self, program, folder):
        self.program, self.folder, self.bin = program, folder, folder / "fake bin"
        self.environment = {"PATH": f"{self.bin}:{os.environ['PATH']}"}
        for name in ("gcc", "clang", "cc"):
            self.fake(name)

    def fake(self, name: str, text: str = FAKE):
        """A compiler of this name; with a slash, not in PATH."""
        path = self.folder / name if "/" in name else self.bin / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
        return path

    def run(self, *words, code: int = 0, **environment) -> subprocess.CompletedProcess:
        result = subprocess.run([self.program, *words], cwd=self.folder, capture_output=True,
                                text=True, env=self.environment | environment)
        assert result.returncode == code, f"{words}\n{result.stdout}{result.stderr}"
        return result

    def words(self, *words, note: str = "", **environment) -> list[str]:
        """What is called at last, with `note` and nothing else said."""
        result = self.run(*words, **environment)
        assert note in result.stderr and bool(note) == bool(result.stderr), result.stderr
        return result.stdout.splitlines()

    def added(self, *words, note: str = "", **environment) -> list[str]:
        """What is called with more than `words` behind the options of frontload-cc."""
        given = [w for w in words if not w.startswith(("--mode", "--profile", "--no-section"))]
        added = []
        for word in reversed(self.words(*words, note=note, **environment)):
            if given and given[-1] == word:
                given.pop()
            else:
                added.append(word)
        assert not given, "all that was given stays, in its order"
        return added[::-1]


@pytest.fixture
def wrapper(build, tmp_path) -> Wrapper:
    return Wrapper(build / "bin" / "frontload-cc", tmp_path)


@pytest.fixture
def linker_flags(build) -> list[str]:
    """How a link comes to ld.frontload."""
    return [f"-B{build / 'lib' / 'frontload' / 'gcc'}", "-fuse-ld=lld",
            "-Xlinker", "--undefined-version"]
