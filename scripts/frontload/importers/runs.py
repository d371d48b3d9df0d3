"""Hands the runs of other tools' files to the merger that makes a startup profile.

Traces and profiles of Frontload name their program and its build. Inputs of importers do not: the
caller names the program, and its symbols decide what a name means.
"""

import os
from collections.abc import Sequence

from frontload import importers
from frontload.base import console, errors
from frontload.base.errors import EXIT_DATA, EXIT_USAGE, BadData, Diagnostics, Failure
from frontload.elf import file as elf
from frontload.importers.binary_names import BinaryNames
from frontload.importers.interface import Mention, NamedRun, Source
from frontload.profile import match
from frontload.profile.merge import Merger
from frontload.profile.startup_profile import Name, from_run

_MAX_SHOWN = 3  # names in a diagnostic


def add(merger: Merger, inputs: Sequence[tuple[str, int]], program: str | None,
        binary: str | None, format_name: str | None, min_match: float) -> None:
    """Adds files with weights to the merger.

    program: the name or path of the program; None: that of `binary`
    binary: the program, not stripped, which decides what the names mean; None: all are functions
    format_name: one of importers.FORMATS; None: what each file looks like
    min_match: the smallest percentage of the names that `binary` must have
    """
    # Tools name the file that ran, not a link to it.
    name = os.path.basename(program or os.path.realpath(binary or "/"))
    if not name:
        raise Failure("no program", code=EXIT_USAGE, note="say which program the profile is for, "
                      "with --binary PATH or --program NAME")
    names = BinaryNames(elf.read(binary)) if binary else None  # refuses a stripped binary
    read: list[tuple[str, int, NamedRun]] = []
    for path, weight in console.progress(inputs, "reading inputs"):
        with merger.one_input():
            source = Source(path, name, binary is not None)
            read += [(path, weight, run) for run in _runs(source, format_name, merger.diagnostics)]
            source.left_out.report(path, merger.diagnostics)
    known = (_known(read, names, binary, min_match, merger.diagnostics) if names and binary
             else None)
    _merge(merger, read, os.fsencode(name), known)


def _runs(source: Source, format_name: str | None, diagnostics: Diagnostics) -> list[NamedRun]:
    importer = importers.choose(source.path, format_name)
    runs = list(importer.read(source))
    if not any(run.mentions for run in runs):
        source.left_out.report(source.path, diagnostics)
        raise BadData(source.path, f"names nothing that {source.program} could have touched",
                      note=importer.note)
    return runs


def _known(read: list[tuple[str, int, NamedRun]], names: BinaryNames, binary: str,
           min_match: float, diagnostics: Diagnostics) -> dict[Mention, list[Name]]:
    """The names that the program has; fails if they are too few."""
    for _, _, run in read:
        run.mentions = dict.fromkeys(names.locate(run.mentions))
    mentions = [mention for _, _, run in read for mention in run.mentions]
    known = names.look_up(mentions)
    if names.of_others:
        diagnostics.note(f"{_list(names.of_others)} left out: {binary} only refers to such names")
    if names.doubtful:
        diagnostics.note(f"{_list(names.doubtful)} left out: not in the program, and perhaps no "
                         "symbols")
    if names.ambiguous:
        diagnostics.warning(f"{_list(names.ambiguous)} of several local functions or data: taken "
                            "for all of them, because nothing tells them apart")
    if mentions:
        match.judge(binary, len(known), names.missing, min_match, diagnostics)
    return known


def _list(names: list[bytes]) -> str:
    shown = b", ".join(names[:_MAX_SHOWN]).decode("utf-8", "surrogateescape")
    rest = len(names) - _MAX_SHOWN
    return f"{errors.count(len(names), 'name')} ({shown}{f' and {rest} more' if rest > 0 else ''})"


def _merge(merger: Merger, read: list[tuple[str, int, NamedRun]], program: bytes,
           known: dict[Mention, list[Name]] | None) -> None:
    """Hands all runs to the merger; `known`: the program's names, if a program was given."""
    nameless = 0
    for path, weight, run in read:
        found = [name for mention in run.mentions
                 for name in ([_unchecked(mention)] if known is None else known.get(mention, ()))]
        content = from_run(program, found)
        if content.touches:
            merger.add_content(path, content, weight * run.weight)
        else:
            nameless += 1
    if nameless:
        merger.diagnostics.note(f"{errors.count(nameless, 'run')} without a name of the program "
                                "left out")
    if nameless == len(read) and read:
        raise Failure("the program has none of the names in the inputs", code=EXIT_DATA,
                      note="give the program that the inputs describe with --binary")


def _unchecked(mention: Mention) -> Name:
    """The name of a mention, without a program to look it up in."""
    section_class = mention.section_class or "text"
    kind = "function" if section_class == "text" else "data"
    return Name(kind, section_class, mention.name, mention.file)
