"""`python3 -m frontload.cli.manual`: writes man pages, reference pages and completions to folders.

All of these say what --help says: help2man makes the man pages of it, and shtab makes the
completions of the parsers. The build runs this (scripts/CMakeLists.txt), and so does the web
site's. Files that would not change are left alone.
"""

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from frontload import __version__
from frontload.base.files import write_if_changed
from frontload.base.tools import find_tool
from frontload.cli import main as command_line

_PROGRAMS = "ld.frontload", "frontload-*"  # the native ones
# Each shell's folder below a prefix's share, and its form of file names.
_COMPLETIONS = {"bash": ("bash-completion/completions", "{}"),
                "zsh": ("zsh/site-functions", "_{}"),
                "fish": ("fish/vendor_completions.d", "{}.fish")}
_FOLDER, _FILE = "DIR", {"FILE", "BINARY", "TRACE", "LIST", "OLD", "NEW", "COMMAND", "NAME=BINARY"}


class Page(NamedTuple):
    """A command: its name as typed, and its --help."""

    name: str
    summary: str
    help: str

    @property
    def file_name(self) -> str:
        return self.name.replace(" ", "-")


def pages(bindir: Path | str | None) -> list[Page]:
    """The pages of `frontload`, its verbs, and the native programs in `bindir`,
    or where the command finds these."""
    os.environ["COLUMNS"] = "80"
    command = command_line.command_parser()
    return [Page(command.prog, _summary(command.description or ""), command.format_help()),
            *(Page(f"frontload {name}", summary, command_line.verb_parser(name).format_help())
              for name, summary in command_line.VERBS.items()),
            # A verb's page has the name of its native program, if that is called like it.
            *(_page_of(path) for path in _native(bindir)
              if path.name.removeprefix("frontload-") not in command_line.VERBS)]


def _page_of(path: Path) -> Page:
    """The page of a native program."""
    text = subprocess.run([path, "--help"], stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=60, check=True).stdout.decode().replace(str(path), path.name)
    text = text.partition("\nOVERVIEW: lld\n")[0]  # ld.frontload shows the help of lld as well
    # LLVM's option parser writes these forms.
    text = re.sub(r"^OVERVIEW: .*\n\n", "", text)
    text = re.sub(r"^(  -\S*) +- ", r"\1  ", text, flags=re.MULTILINE)
    prose = re.sub(r"^(?:usage|USAGE): (?:.+\n)*", "", text, flags=re.MULTILINE)
    return Page(path.name, _summary(prose), text)


def _native(bindir: Path | str | None) -> Iterator[Path]:
    if bindir is None:
        linker = find_tool("ld.frontload")
        bindir = linker.parent if linker else os.devnull
    for path in (path for pattern in _PROGRAMS for path in sorted(Path(bindir).glob(pattern))):
        if path.is_file() and path.suffix not in (".so", ".a"):
            with open(path, "rb") as file:
                if file.read(4) == b"\x7fELF":
                    yield path


def _summary(prose: str) -> str:
    sentence = re.split(r"[.:](?:\s|$)|;\s", " ".join(prose.split()), maxsplit=1)[0]
    return sentence[:1].lower() + sentence[1:]


def man_page(page: Page) -> str:
    """The page as roff. Without SOURCE_DATE_EPOCH it has no date, never that of the build."""
    with tempfile.TemporaryDirectory(prefix="frontload-man.") as folder:
        script = Path(folder, page.file_name)
        script.write_text(f"#!/bin/sh\nprintf %s {shlex.quote(_for_help2man(page.help))}\n",
                          encoding="utf-8")
        script.chmod(0o755)
        made = subprocess.run(
            ["help2man", "--no-info", f"--name={page.summary}", f"--source=Frontload {__version__}",
             f"--version-string={__version__}", "--manual=Frontload Manual", script],
            check=True, capture_output=True, encoding="utf-8",
            env={"SOURCE_DATE_EPOCH": "0", **os.environ, "LC_ALL": "C.UTF-8"}).stdout
    return made if "SOURCE_DATE_EPOCH" in os.environ else made.replace('"January 1970"', '""', 1)


def _for_help2man(text: str) -> str:
    """--help with headings that help2man recognizes, and examples with a prompt, so that help2man
    keeps their lines apart."""
    lines, is_example = [], False
    text = re.sub(r" \\\n\s+", " ", text)  # joins lines of examples
    text = re.sub(r"^(?:usage|USAGE): (?:.+\n)*", lambda usage: " ".join(usage[0].split()) + "\n",
                  text, flags=re.MULTILINE)
    for line in text.splitlines():
        if heading := re.fullmatch(r"(\w[\w ]*):\s*|(USAGE|usage): .*", line):
            is_example = heading[1] == "examples"
            name = (heading[1] or heading[2]).capitalize()
            known = heading[2] or name in ("Options", "Examples", "Environment", "Files")
            line = (name + line[len(name):] if heading[2] else
                    f"{name}:\n" if known else f"*{name}*\n")
        elif is_example and line.strip():
            comment = line.removeprefix("  # ")
            line = (f"\n{comment[:1].upper()}{comment[1:]}:\n" if comment != line
                    else f"  $ {line.strip()}")
        lines.append(line)
    return "\n".join(lines) + "\n"


def reference_page(page: Page) -> str:
    """The page as Markdown."""
    return (f"# {page.name}\n\n{page.summary[:1].upper()}{page.summary[1:]}.\n\n"
            f"```text\n{page.help.rstrip()}\n```\n")


def reference_index(pages: list[Page]) -> str:
    return "\n".join([
        "# Commands", "", "What each command prints with `--help`, as its man page does.", "",
        *(f"- [{page.name}]({page.file_name}.md): {page.summary}" for page in pages), ""])


def completions() -> dict[Path, str]:
    """The completions of `frontload`, by their path below a prefix's share. The native programs
    have none: build systems call them."""
    import shtab  # only builds of Frontload have it

    parser = argparse.ArgumentParser(prog="frontload")
    parser.add_argument("--version", action="store_true", help="show the version")
    verbs = parser.add_subparsers()
    for name, summary in command_line.VERBS.items():
        each = verbs.add_parser(name, help=summary, add_help=False,
                                parents=[command_line.verb_parser(name)])
        for action in each._actions:
            if action.metavar == _FOLDER:
                action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]  # shtab's own
            elif action.metavar in _FILE:
                action.complete = shtab.FILE  # type: ignore[attr-defined]
    return {Path(folder, name.format(parser.prog)): shtab.complete(parser, shell)
            for shell, (folder, name) in _COMPLETIONS.items()
            if shell in shtab.SUPPORTED_SHELLS}  # Debian 12's has no fish


def main() -> int:
    parser = argparse.ArgumentParser(prog="frontload.cli.manual", description=__doc__)
    parser.add_argument("--bin", metavar="DIR", help="where the native programs are")
    parser.add_argument("--man", metavar="DIR", type=Path, help="write man pages there")
    parser.add_argument("--markdown", metavar="DIR", type=Path,
                        help="write Markdown there, and an index.md")
    parser.add_argument("--completions", metavar="DIR", type=Path,
                        help="write completions below it, as below a prefix's share")
    args = parser.parse_args()
    found = pages(args.bin)
    written: dict[Path, str] = {}
    if args.man:
        written |= {args.man / f"{page.file_name}.1": man_page(page) for page in found}
    if args.markdown:
        written |= {args.markdown / f"{page.file_name}.md": reference_page(page) for page in found}
        written[args.markdown / "index.md"] = reference_index(found)
    if args.completions:
        written |= {args.completions / place: text for place, text in completions().items()}
    for path, text in written.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_if_changed(path, text.encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
