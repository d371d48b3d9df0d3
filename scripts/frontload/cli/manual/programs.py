"""The pages of the native programs, from what they say with --help.

They all have one shape, which is also pleasant to read (the comments are not part of it):

    usage: frontload-run [--verbose] [--] COMMAND [ARGUMENT...]

    Paragraphs, of which the first begins with the sentence that says what it is for.

    options:
      --verbose      what it does, over as many
                     lines as it takes
    exit status:     # any title: terms, as above; "examples" is shell text
      2              the command line is wrong

or that of LLVM's CommandLine (OVERVIEW, USAGE, OPTIONS), with sections like these at its end. Text
after all sections belongs to another program (lld, in ld.frontload).
"""

import re
import subprocess
from pathlib import Path

from frontload.base import tools
from frontload.cli.manual.page import Argument, Group, Page, Section, examples_of

NAMES = ("ld.frontload", "frontload-*")
# Ours are in small letters, LLVM's are not, and those of others are not to be taken for ours.
_HEADING = re.compile(r"([a-z][a-z ]{2,40}|OPTIONS|Options|Generic Options):\s*")
# A term and its text, apart by two spaces; LLVM puts a dash between, and one space may do then.
_TERM = re.compile(r"  (\S.*?)(?: +- | {2,}|$)(.*)")
_FLAG = re.compile(r"(-[^\s=\[]*)(\[)?(?:[= ](.*?))?\]?")
_OF_LLVM = {"--help-list", "--help-hidden", "--help-list-hidden", "--print-options",
            "--print-all-options"}


def pages(bindir: Path | str | None) -> list[Page]:
    """The pages of the programs in `bindir`, or where the command finds them."""
    return [page_of(path.name, help_of(path)) for path in _find(bindir)]


def help_of(path: Path) -> str:
    result = subprocess.run([path, "--help"], stdin=subprocess.DEVNULL, capture_output=True,
                            timeout=60, check=True)
    return result.stdout.decode().replace(str(path), path.name)


def _find(bindir: Path | str | None) -> list[Path]:
    if bindir is None:
        linker = tools.find_tool("ld.frontload")
        bindir = linker.parent if linker else ""
    found = [path for pattern in NAMES for path in sorted(Path(bindir).glob(pattern))
             if path.is_file() and path.suffix not in (".so", ".a")] if bindir else []
    return [path for path in found if _is_native(path)]


def _is_native(path: Path) -> bool:
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def page_of(name: str, text: str) -> Page:
    """The page of a program that says `text`."""
    synopsis, prose, sections = _split(name, text)
    groups: list[Group] = []
    others: list[Section] = []
    examples = ""
    for title, lines in sections:
        if title == "examples":
            examples = "\n".join(line.removeprefix("  ") for line in lines)
            continue
        terms = _terms(lines)
        if not terms:
            continue
        if all(term.startswith("-") for term, _ in terms):
            groups.append(Group(title, "", _arguments(terms)))
        else:
            others.append(Section(title, tuple(terms)))
    description = "\n".join(prose).strip()
    return Page(name, _summary(description), synopsis, description, _merge(groups),
                tuple(others), examples_of(examples))


def _split(name: str, text: str) -> tuple[tuple[str, ...], list[str], list[tuple[str, list[str]]]]:
    """The synopsis, the prose, and the lines of each section."""
    synopsis: list[str] = []
    prose: list[str] = []
    sections: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        line = line.removeprefix("OVERVIEW: ")
        if match := re.match(r"(?:usage|USAGE): (.*)", line):
            # LLVM knows no more than "[options]" where a program takes a command.
            if not synopsis:
                synopsis.append(match[1].strip())
        elif not sections and not prose and line.startswith((f"{name} ", f"       {name} ")):
            synopsis.append(line.strip())
        elif match := _HEADING.fullmatch(line):
            sections.append((match[1].lower(), []))
        elif sections:
            if line.strip() and not line.startswith(" "):
                break
            sections[-1][1].append(line)
        else:
            prose.append(line)
    return tuple(synopsis), prose, sections


def _terms(lines: list[str]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for line in lines:
        match = _TERM.fullmatch(line)
        if match and not line.startswith("   "):
            found.append((match[1], match[2].strip()))
        elif line.strip() and found:
            term, text = found[-1]
            found[-1] = term, f"{text} {line.strip()}".strip()
    return found


def _arguments(terms: list[tuple[str, str]]) -> tuple[Argument, ...]:
    found: list[Argument] = []
    for term, text in terms:
        flags, value, optional = [], "", False
        for form in term.split(", "):
            match = _FLAG.fullmatch(form)
            if match is None:
                continue
            flags.append(match[1])
            value = match[3] or value
            optional = optional or bool(match[2])
        value = re.sub(r"<([^>]*)>", lambda match: match[1].upper() if match[1].islower()
                       else match[1], value)
        choices = tuple(value.split("|")) if "|" in value else ()
        if flags and flags[0] not in _OF_LLVM:
            found.append(Argument(tuple(flags), value, text.replace(
                " (--help-hidden for more)", ""), choices, optional,
                "repeatable" in text or "repeated" in text, is_joined=True))
    return tuple(_with_short_forms(found))


def _with_short_forms(arguments: list[Argument]) -> list[Argument]:
    """LLVM lists `-o - Short for --output` apart."""
    short = {match[1]: each.flags for each in arguments
             if (match := re.fullmatch(r"Short for (--\S+)", each.help))}
    return [Argument((*short.get(each.flags[0], ()), *each.flags), each.value, each.help,
                     each.choices, each.is_value_optional, each.is_repeatable, each.is_joined)
            for each in arguments if not each.help.startswith("Short for --")]


def _merge(groups: list[Group]) -> tuple[Group, ...]:
    """LLVM lists its own options first, and apart."""
    own = [argument for group in groups if group.title != "generic options"
           for argument in group.arguments]
    generic = [argument for group in groups if group.title == "generic options"
               for argument in group.arguments]
    return (Group("options", "", tuple(own + generic)),) if own or generic else ()


def _summary(description: str) -> str:
    sentence = re.split(r"[.:](?:\s|$)|;\s", " ".join(description.split()), maxsplit=1)[0]
    return sentence[:1].lower() + sentence[1:]
