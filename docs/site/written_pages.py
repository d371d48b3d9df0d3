"""Writes the pages that say again what the sources say, and what the race has measured.

A format is declared in one place, the comment or docstring that its readers and writers stand
beneath; here that text becomes a page. `--check` writes nothing and fails if a page is not up to
date.
"""

import argparse
import ast
import os
import re
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "docs/site"), str(ROOT / "scripts")]

import layout_picture  # noqa: E402
import race_figures  # noqa: E402

COMMANDS = ROOT / "docs/reference/commands"


class Declared(NamedTuple):
    """A page, and the source whose first comment it is."""

    page: str
    source: str
    title: str


PAGES = (
    Declared("profile-format", "scripts/frontload/profile/format.py", "The startup profile"),
    Declared("prefetch-list", "scripts/frontload/reading/listing.py", "The prefetch list"),
    Declared("trace-format", "instrument/format/frontload_trace.h", "The trace"),
    Declared("note-format", "instrument/format/frontload_note.h", "The note of the front"),
    Declared("front-report-json", "lldplugin/plan/front_report.h", "The report of a link"),
    Declared("predict-json", "scripts/frontload/measure/prediction.py",
             "The JSON of frontload predict"),
    Declared("report-json", "scripts/frontload/report/document.py", "The JSON of frontload report"),
    Declared("c-runtime", "instrument/runtime/include/frontload.h", "C: frontload.h"),
    Declared("c-prefetch", "instrument/prefetch/include/frontload_prefetch.h",
             "C: frontload_prefetch.h"),
)


def first_comment(source: str, name: str) -> str:
    """The text of a source's first docstring, `/* */` comment or block of `//` lines."""
    if name.endswith(".py"):
        return ast.get_docstring(ast.parse(source)) or ""
    if source.startswith("/*"):
        body = source[2:source.index("*/")]
        lines = [re.sub(r"^ \*( |$)", "", line) for line in body.splitlines()]
        return "\n".join([lines[0].strip(), *lines[1:]]).rstrip()
    lines = []
    for line in source.splitlines():
        if not line.startswith("//"):
            break
        if not line.startswith("//==="):
            lines.append(re.sub(r"^// ?", "", line))
    return "\n".join(lines).strip("\n")


def declarations(source: str, name: str) -> str:
    """What a C header declares for those who include it, with the comments before it; the types of
    a Python module's JSON."""
    if name.endswith(".py"):
        found = [node for node in ast.parse(source).body if isinstance(node, ast.Assign)
                 and re.match(r"[A-Z]\w+ = (TypedDict|Literal|dict)\b", ast.unparse(node))]
        return "\n".join(line for node in found for line in
                         source.splitlines()[node.lineno - 1:node.end_lineno])
    for begin in (r'extern "C" \{\n#endif\n', r"#include <std(?:def|int)\.h>\n(?!#)"):
        if inside := re.search(begin + r"(.*?)\n(?:#ifdef __cplusplus|static_assert)", source,
                               re.DOTALL):
            return inside[1].strip()
    return ""


def _escaped(paragraph: str) -> str:
    """Prose in which nothing is taken for Markdown, but `code` and *words*."""
    parts = re.split(r"(`[^`]*`|(?<!\w)\*\w+(?: \w+)*\*(?!\w))", paragraph)
    special = r"[\\*<>\[\]]|(?<!\w)_|_(?!\w)"
    return "".join(part if index % 2 else re.sub(special, r"\\\g<0>", part)
                   for index, part in enumerate(parts))


def markdown(text: str) -> str:
    """Comments are written as paragraphs, and what is aligned in them is indented: that is kept.

    Indented lines after prose belong to it, as a list does; blocks of them that follow each other
    are one. A term and its text, two spaces apart, begin a table that is not indented.
    """
    blocks: list[tuple[bool, str]] = []  # whether it is kept as it is, and its text
    for block in re.split(r"\n *\n", text.strip("\n")):
        lines = block.splitlines()
        is_table = re.match(r"\w+ {2,}\S", lines[0])
        prose = 0 if is_table else next(
            (number for number, line in enumerate(lines) if line.startswith("  ")), len(lines))
        if prose:
            blocks.append((False, "\n".join(lines[:prose])))
        kept = "\n".join(lines[prose:])
        if kept and not prose and blocks and blocks[-1][0]:
            blocks[-1] = True, f"{blocks[-1][1]}\n\n{kept}"
        elif kept:
            blocks.append((True, kept))
    return "\n\n".join(f"```text\n{textwrap.dedent(block)}\n```" if is_kept else _escaped(block)
                       for is_kept, block in blocks)


def page(declared: Declared, source: str) -> str:
    text = markdown(first_comment(source, declared.source))
    language = "c" if declared.source.endswith(".h") else "python"
    code = declarations(source, declared.source) if language == "c" or "json" in declared.page \
        else ""
    link = f"[{declared.source}](../../{declared.source})"
    return "\n".join([
        f"# {declared.title}", "",
        f"<!-- {Path(__file__).relative_to(ROOT)} wrote this page from {declared.source} -->", "",
        f"Declared in {link}:", "", text, "",
        *(["## Declarations", "", f"```{language}", code, "```", ""] if code else [])])


def pages() -> dict[Path, bytes]:
    return race_figures.pages(ROOT) | layout_picture.pages(ROOT) | {
        ROOT / "docs/reference" / f"{declared.page}.md":
        page(declared, (ROOT / declared.source).read_text(encoding="utf-8")).encode()
        for declared in PAGES}


def command_pages(programs: Path) -> dict[Path, bytes]:
    """A page for each command, of what `frontload` and the native programs say of themselves."""
    with tempfile.TemporaryDirectory(prefix="frontload-docs.") as folder:
        subprocess.run([sys.executable, "-m", "frontload.cli.manual", "--bin", programs,
                        "--markdown",
                        folder], check=True,
                       env={**os.environ, "PYTHONPATH": str(ROOT / "scripts"), "COLUMNS": "80"})
        return {COMMANDS / page.name: page.read_bytes()
                for page in Path(folder).iterdir()}


def write(path: Path, written: bytes | None) -> None:
    """Writes a page, or removes that of a command which is no more."""
    if written is None:
        path.unlink()
        return
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(written)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing, fail if something is "
                        "not up to date")
    parser.add_argument("--bin", metavar="DIR", type=Path, help="where the native programs are: "
                        "without it the pages of commands are left as they are")
    args = parser.parse_args()
    wanted = pages() | (command_pages(args.bin.resolve()) if args.bin else {})
    stale = [(path, written) for path, written in wanted.items()
             if not path.exists() or path.read_bytes() != written]
    if args.bin:
        stale += [(path, None) for path in COMMANDS.glob("*.md") if path not in wanted]
    for path, written in stale:
        if args.check:
            print(f"{path.relative_to(ROOT)}: differs from its source: run scripts/docs",
                  file=sys.stderr)
        else:
            write(path, written)
    return 1 if args.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
