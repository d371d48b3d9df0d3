"""frontload init: looks at a build or source folder and says, or writes, what to add to it."""

import argparse
import os
from dataclasses import asdict

from frontload import __version__
from frontload.base import console, errors, files
from frontload.base.console import say
from frontload.base.errors import EXIT_OK, Failure
from frontload.cli import ready_options
from frontload.cli.arguments import add_json
from frontload.cli.parser import Parser

SCHEMA = "frontload-init/1"
_MAX_SHOWN = 12  # programs
_ANY = "PROGRAM"  # if none is known
DESCRIPTION = """\
Look at a build folder or source folder and show what to add so that one of its programs gets a
front: the lines and where they belong, the programs and how they were linked, what stands in the
way, and the name of the startup profile.

init knows CMake, Meson, Autotools, make, Cargo, Go and Bazel; for any other build it shows how to
put frontload-cc before the compiler. It runs nothing in the folder and changes nothing there,
except with --write.
"""
EXAMPLES = """\
# show what this build folder needs, for its largest program
frontload init build
# for another program, and the arguments to record it with
frontload init --program app --arguments '--config x' build
# for a server
frontload init --arguments '--port 8080' --until-listening 8080 build
# append the lines to the CMakeLists.txt of the target
frontload init --program app --write .
"""
EXIT_STATUS = {"1": "--write cannot make the change safely"}


def make_parser() -> Parser:
    parser = Parser(
        "frontload init", description=DESCRIPTION, examples=EXAMPLES, exit_status=EXIT_STATUS)
    parser.add_argument("folder", metavar="DIR", nargs="?", default=".",
                        help="a build folder or source folder (default: the current one)")
    parser.add_argument("--program", metavar="NAME",
                        help="the program that gets a front (default: the largest)")
    parser.add_argument("--arguments", metavar="TEXT", default="--version",
                        help="the arguments to record the program with (default: %(default)s)")
    ready_options.add(parser)
    parser.add_argument("--write", action="store_true",
                        help="append the lines to the target's CMakeLists.txt, if that is safe")
    add_json(parser, instead_of="the text")
    return parser


def run(args: argparse.Namespace) -> int:
    from frontload.auto import advice, build_folder, hindrances, programs

    ready = ready_options.chosen(args)
    training = advice.Training(f"{{}} {args.arguments}".strip(),
                               tuple(ready.options()) if ready else ())
    if not os.path.isdir(args.folder):
        raise Failure(f"{args.folder}: " + ("is not a folder" if os.path.exists(args.folder) else
                                            "no such folder"),
                      note="give a build folder or a source folder")
    folder = build_folder.look(args.folder)
    found = programs.below(folder.build) if folder.build else []
    output = _choose(args.program, folder, found)
    looked = hindrances.look(folder, output if os.path.isfile(output) else "")
    advised = advice.advise(folder, output or os.path.join(folder.path, _ANY), training)
    if args.json:
        files.write_json(args.json, {
            "schema": SCHEMA,
            "frontload": __version__,
            "folder": asdict(folder),
            "programs": [asdict(each) for each in found],
            "target": output or None,
            **looked.as_json(),
            "advice": advised.as_json()})
    if args.json != files.STDOUT:
        _show(folder, found, output, looked, advised)
    if args.write:
        if folder.system != "cmake" or not output:
            args.usage_error("--write is for the targets of CMake; add other lines yourself")
        is_new = advice.append(folder, output, advised.steps[0])
        errors.note(f"{advised.steps[0].file}: "
                    + ("written" if is_new else "the lines are there already"))
    return EXIT_OK


def _choose(given: str | None, folder, found) -> str:
    """The output of the target: the given one, or the largest program."""
    names = {os.path.basename(each.path): each.path for each in reversed(found)}
    for target in folder.targets:
        names.setdefault(target.name, target.output or target.name)
    if given:
        if not names:  # nothing is built: it will be where the user says
            return os.path.join(folder.build or folder.path, given)
        if given not in names:
            raise Failure(f"{given}: no such program in {folder.path}",
                          note=f"there are: {', '.join(sorted(names)[:_MAX_SHOWN])}")
        return names[given]
    first = next((each.path for each in found if each.kind != "shared library"), "")
    if first:
        return first
    return next((target.output or target.name for target in folder.targets
                 if target.kind == "program"), found[0].path if found else "")


def _show(folder, found, output, looked, advised) -> None:
    from frontload.auto import advice, build_folder

    say(f"{folder.path}: {build_folder.NAMES[folder.system]}")
    for label, text in (("sources", folder.source), ("build folder", folder.build),
                        ("other build folders", ", ".join(folder.other_builds)),
                        ("generator", folder.generator),
                        ("compilers", ", ".join(f"{each.language}: {each.version or each.path}"
                                                for each in folder.compilers))):
        if text:
            say(f"{label}: {text}")
    if found:
        print()
        table = console.table("program", "bytes", "kind", "linked by", "compiled by", "names",
                              "profile", numbers=(1,))
        for each in found[:_MAX_SHOWN]:
            kind = each.kind + (", PIE" if each.position_independent
                                and each.kind != "shared library" else "")
            console.add_row(table, os.path.relpath(each.path, folder.build), f"{each.size:,}", kind,
                            "ld.frontload" if each.has_front else each.linker,
                            ", ".join(each.compilers) or "?",
                            "stripped" if each.stripped else "yes",
                            advice.profile_name(each.path))
        console.show(table)
        if len(found) > _MAX_SHOWN:
            print(f"and {len(found) - _MAX_SHOWN} smaller ones (--json lists all)")
    elif not folder.targets:
        say("no program has been built there yet")
    print()
    for line in looked.lines():
        say(line)
    print()
    say(f"for {output}:" if output else
        f"for any {_ANY} of yours (--program can name one before it is built):")
    advice.show(folder, advised, console.say)
