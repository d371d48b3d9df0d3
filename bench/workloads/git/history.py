"""Writes the history of a small repository to stdout, for git fast-import: always the same one."""

import sys

COMMITS, FILES, LINES = 60, 12, 80
FIRST_SECOND = 1_600_000_000
WHO = "A U Thor <author@example.com>"


def text(file: int, version: int) -> str:
    """A file's lines; each version has others in some places, and a few more."""
    lines = (f"line {line} of file {file}, written in version "
             f"{version if (line * 7 + file + version) % 9 == 0 else line % (version + 1)}"
             for line in range(LINES + version))
    return "".join(f"{line}\n" for line in lines)


def data(content: str) -> str:
    return f"data {len(content)}\n{content}\n"


def main() -> None:
    write = sys.stdout.write
    for commit in range(COMMITS):
        write(f"commit refs/heads/main\ncommitter {WHO} {FIRST_SECOND + 3600 * commit} +0000\n")
        write(data(f"Change number {commit}\n\nIt touches some files.\n"))
        for file in range(FILES):
            if commit == 0 or (commit + file) % 5 == 0:
                write(f"M 100644 inline folder{file % 3}/file{file}.txt\n")
                write(data(text(file, commit)))
        if commit % 20 == 19:
            write(f"reset refs/tags/v{commit // 20}\nfrom refs/heads/main\n\n")


if __name__ == "__main__":
    main()
