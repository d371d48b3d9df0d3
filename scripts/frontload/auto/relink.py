"""Links a program again from its link command, with ld.frontload and to another file.

The command is the build's own, in its folder. Only the linker, the output and the options that
cannot be combined with a front (linker_options.py) change. The output goes to a temporary file
beside its final place, because a program finds its libraries relative to itself. The build's own
files are left alone.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from frontload.auto import linker_options
from frontload.auto.link_command import NO_OUTPUT, LinkCommand, compiler, output_of
from frontload.auto.linker_options import Hindrance, Token
from frontload.base import response_files, tools
from frontload.base.errors import EXIT_VERDICT, Diagnostics, Failure
from frontload.base.processes import run

WATCH = ("make was not called as it was when it built the program: give that command, with its "
         "variables: --build 'make ...'")
# Far below Linux's limits: 128 KiB for one argument, and some megabytes for all.
_MAX_CHARACTERS = 100_000


@dataclass(frozen=True)
class Options:
    """The options for ld.frontload; None: not given."""

    profile: str | None = None
    link_map: str | None = None
    report: str | None = None
    prefetch: bool = False
    min_match: float | None = None
    own_linker: bool = False  # as the build links it, but with its symbols

    def tokens(self) -> list[str]:
        found = []
        if self.profile:
            # Always: the trial measures what the front is worth.
            found += [f"--startup-profile={self.profile}", "--front-always"]
        if self.min_match is not None and self.profile:
            found.append(f"--min-match={self.min_match:g}")
        if self.prefetch and self.profile:
            found += ["--front-prefetch", "-rpath", _folder_of(
                "lib/frontload/libfrontload-prefetch.so.1", "lib/libfrontload-prefetch.so.1")]
        if self.report:
            found.append(f"--front-report={self.report}")
        if self.link_map:
            # The build-id tells this program's traces from those of other builds.
            found += [f"-Map={self.link_map}", "--build-id"]
        return found


def _folder_of(*names: str) -> str:
    """The folder of the first of these files of the prefix that ld.frontload is in."""
    prefix = tools.tool("ld.frontload").resolve().parent.parent
    found = next((prefix / name for name in names if (prefix / name).exists()), None)
    if found is None:
        raise Failure(f"{prefix / names[-1]}: not found",
                      note="build and install Frontload with CMake")
    return str(found.parent)


def hindrances(link: LinkCommand) -> list[Hindrance]:
    return linker_options.separate(_tokens(link), link.directory)[1]


def _tokens(link: LinkCommand) -> list[Token]:
    return linker_options.tokens(link.expanded()[1:], link.is_by_linker)


def command_for(link: LinkCommand, output: str, options: Options) -> list[str]:
    """The command that links the same program to `output` with these options."""
    for word in link.arguments:
        if "$(" in word or "`" in word:
            raise Failure(f"{link.source}: {word}: only a shell can evaluate this",
                          note="give the link command with --link, evaluated")
    if options.own_linker:
        stay = linker_options.with_symbols(_tokens(link), link.directory)
        return [link.arguments[0], *linker_options.arguments(
            list(_without_output(stay)), link.is_by_linker), "-o", output]
    stay, found = linker_options.separate(_tokens(link), link.directory)
    refused = next((each for each in found if each.kind == linker_options.REFUSED), None)
    if refused and options.profile:
        raise Failure(f"{refused.option}: {refused.why}", note=refused.remedy)
    # GNU ld's version scripts may name symbols that are not there, for which lld needs an option.
    first, *added = (Token(text, True) for text in ("--undefined-version", *options.tokens()))
    arguments = linker_options.arguments([first, *_without_output(stay), *added],
                                         link.is_by_linker)
    # gcc and clang find ld.frontload by the name ld.lld in this folder.
    program = ([str(tools.tool("ld.frontload"))] if link.is_by_linker else
               [link.arguments[0], "-B", _folder_of("lib/frontload/gcc/ld.lld"), "-fuse-ld=lld"])
    return [*program, *arguments, "-o", output]


def _without_output(found: Sequence[Token]) -> Iterator[Token]:
    rest = iter(found)
    for token in rest:
        if token.text in ("-o", "--output"):
            next(rest, None)
        elif output_of([token.text]) == NO_OUTPUT:
            yield token


@contextmanager
def linked(link: LinkCommand, beside: str, options: Options, scratch: Path,
           diagnostics: Diagnostics) -> Iterator[str]:
    """Within `with`, the linked program, in a temporary file in the folder of `beside`; a file
    renamed within stays."""
    folder, name = os.path.split(beside)
    temporary = os.path.join(folder, f".{name}.{os.getpid()}{'.own' * options.own_linker}")
    try:
        link_to(link, temporary, options, scratch, diagnostics)
        yield temporary
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temporary)


def link_to(link: LinkCommand, output: str, options: Options, scratch: Path,
            diagnostics: Diagnostics) -> None:
    command = command_for(link, output, options)
    if sum(map(len, command)) > _MAX_CHARACTERS:
        response = scratch / "link.rsp"
        response.write_text(response_files.text(command[1:]), "utf-8", "surrogateescape")
        command = [command[0], f"@{response}"]
    # Without the build's settings for frontload-cc, which would repeat the command's options.
    environment = {name: value for name, value in (os.environ | dict(link.environment)).items()
                   if not name.startswith("FRONTLOAD")}
    result = run(command, directory=link.directory, environment=environment)
    if result.status or not os.path.exists(output):
        diagnostics.quote(result.stderr or result.stdout)
        raise Failure(f"{link.arguments[0]}: linking again with ld.frontload failed, with status "
                      f"{result.status}", code=EXIT_VERDICT, note=_remedy(link, result.stderr))


def _remedy(link: LinkCommand, said: str) -> str:
    arguments = link.expanded()
    if any(each.startswith("-flto") for each in arguments) and compiler(link) != "clang":
        return ("lld cannot link gcc's -flto objects: compile with -ffat-lto-objects and link with "
                "-fno-lto, or leave -flto out, or build with clang")
    if "No such file" in said or "cannot open" in said or "cannot find" in said:
        return "the build's objects are gone or out of date: build the program, then try again"
    if link.is_asked:
        return WATCH
    return f"the command came from {link.source}; give another with --link"
