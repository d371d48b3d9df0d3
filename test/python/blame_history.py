"""A repository with startup profiles, and what these are made of: for tests of frontload blame."""

import os
import subprocess

from frontload.profile import format as profile
from frontload.profile.startup_profile import Name, from_run

# Functions whose code differs from each other, and is long enough to say something.
SOURCE = """
int counter; extern int table[];
#define N __attribute__((noinline))
N int PARSE(int x) { counter += x * 3; return table[x & 7] ^ (counter << 2) ^ 77; }
N int print(int x) { counter -= x * 5; return table[x & 3] + counter * x + 11; }
#ifdef WITH_OTHER
N int other(int x) { return table[x] * 9 + counter / 5 - 3; }
#endif
int main(int argc, char **argv) { return PARSE(argc) + print(argc); }
"""


class History:
    """A repository with a profile, and commits of which each has a message.

    time: of the day on which what comes next is committed
    """

    time = "12:00:00"

    def __init__(self, folder):
        self.folder = folder
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments) -> str:
        environment = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM":
                       "/dev/null", "GIT_COMMITTER_DATE": f"2026-11-24T{self.time}Z"}
        return subprocess.run(
            ["git", "-c", "user.name=A", "-c", "user.email=a@b.c", *map(str, arguments)],
            check=True, cwd=self.folder, env=environment, capture_output=True,
            text=True).stdout.strip()

    def commit(self, message: str, **contents: str | bytes) -> str:
        """Commits files, of which an argument writes the dot as _; returns the short hash."""
        for file, content in contents.items():
            path = self.folder / file.replace("_", ".")
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "--allow-empty-message", "-m", message)
        return self.git("rev-parse", "--short", "HEAD")


def of(*names: str | Name, data: bool = False) -> bytes:
    return profile.to_bytes(from_run(b"app", [
        name if isinstance(name, Name) else Name("function", "text", name.encode())
        for name in names], data))


def events(described: dict) -> list[tuple]:
    return [(each["what"], each["before"], each["after"]) for each in described["events"]]
