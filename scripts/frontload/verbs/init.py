"""frontload init: looks at a build or source folder and says, or writes, what to add to it."""

import argparse
import os

from frontload import __version__
from frontload.base import console, errors, files
from frontload.base.errors import EXIT_OK, EXIT_VERDICT, Failure, printable
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
except with --write and --ask-cmake.
"""
EXAMPLES = """\
# show what this build folder needs, for its largest program
frontload init build
# for another program, and the arguments to record it with
frontload init --target app --arguments '--config x' build
# for a server
frontload init --arguments '--port 8080' --until-listening 8080 build
# make the change, and show it as a diff
frontload init --target app --write .
"""
EXIT_STATUS = {"1": "--write cannot make the change safely"}


def make_parser() -> Parser:
    parser = Parser(
        "frontload init", description=DESCRIPTION, examples=EXAMPLES, exit_status=EXIT_STATUS)
    parser.add_argument("folder", metavar="DIR", nargs="?", default=".",
                        help="a build folder or source folder (default: the current one)")
    parser.add_argument("--target", metavar="NAME",
                        help="the program that gets a front (default: the largest)")
    parser.add_argument("--arguments", metavar="TEXT", default="--version",
                        help="the arguments to record the program with (default: %(default)s)")
    ready_options.add(parser)
    parser.add_argument("--write", action="store_true",
                        help="make the change if that is safe, and show it as a diff: append to "
                        "the target's CMakeLists.txt, or make the folder for profiles")
    parser.add_argument("--ask-cmake", action="store_true",
                        help="let CMake list its targets, which configures the build folder again")
    add_json(parser, instead_of="the text")
    parser.set_defaults(usage_error=parser.error)
    return parser


def run(args: argparse.Namespace) -> int:
    # Imported here because numpy takes a while, which other verbs need not pay.
    from frontload.auto import advice, changes, cmake_folder, detect, hindrances, programs

    ready = ready_options.chosen(args)
    training = advice.Training(f"{{}} {args.arguments}".strip(),
                               tuple(ready.options()) if ready else ())
    if not os.path.isdir(args.folder):
        raise Failure(f"{args.folder}: " + ("is not a folder" if os.path.exists(args.folder) else
                                            "no such folder"),
                      note="give a build folder or a source folder")
    folder = detect.look(args.folder)
    if args.ask_cmake:
        if folder.system != "cmake" or not folder.build:
            args.usage_error(f"--ask-cmake: {args.folder} neither is nor has a CMake build folder")
        cmake_folder.ask(folder)
    found = programs.below(folder.build) if folder.build else []
    output = _choose(args, folder, found)
    looked = hindrances.look(folder, output if os.path.isfile(output) else "")
    advised = advice.advise(folder, output or os.path.join(folder.path, _ANY), training)
    change = None
    if args.write:
        if not output:
            raise Failure(f"{args.folder}: contains no known program",
                          note="build the program first, or name it with --target")
        change = changes.plan(folder, output, training, advised)
    if args.json:
        files.write_json(args.json,
                         _as_json(folder, found, output, looked, advised, change))
    is_shown = args.json != files.STDOUT
    if is_shown:
        _show(folder, found, output, looked, advised, change is None)
    return _write(change, is_shown) if change else EXIT_OK


def _choose(args, folder, found) -> str:
    """The output of the target: the given one, or the largest program."""
    names = {os.path.basename(each.path): each.path for each in reversed(found)}
    for target in folder.targets:
        names.setdefault(target.name, target.output or target.name)
    if args.target:
        if not names:  # nothing is built: it will be where the user says
            return os.path.join(folder.build or folder.path, args.target)
        if args.target not in names:
            known = ", ".join(sorted(names)[:_MAX_SHOWN]) or "none is known"
            raise Failure(f"{args.target}: no such program in {args.folder}",
                          note=f"there are: {known}")
        return names[args.target]
    first = next((each.path for each in found if each.kind != "shared library"), "")
    if first:
        return first
    return next((target.output or target.name for target in folder.targets
                 if target.kind == "program"), found[0].path if found else "")


def _show(folder, found, output, looked, advised, with_advice: bool) -> None:
    from frontload.auto import advice, build_folder

    _say(f"{folder.path}: {build_folder.NAMES[folder.system]}")
    for label, text in (("sources", folder.source), ("build folder", folder.build),
                        ("other build folders", ", ".join(folder.other_builds)),
                        ("generator", folder.generator),
                        ("compilers", ", ".join(f"{each.language}: {each.version or each.path}"
                                                for each in folder.compilers))):
        if text:
            _say(f"{label}: {text}")
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
        _say("no program has been built there yet")
    print()
    for line in looked.lines():
        _say(line)
    for text in folder.notes:
        _say(f"note: {text}")
    if with_advice:
        print()
        _say(f"for {output}:" if output else
             f"for any {_ANY} of yours (--target can name one before it is built):")
        advice.show(folder, advised, _say)


def _say(text: str) -> None:
    print(printable(text))


def _write(change, with_diff: bool) -> int:
    from frontload.auto import changes

    if change.done:
        errors.note(f"{change.path}: the change is there already; nothing was written")
        return EXIT_OK
    if change.obstacle:
        errors.error(f"{change.path}: {change.obstacle}: nothing was changed")
        errors.note("add the lines yourself; frontload init without --write shows them")
        return EXIT_VERDICT
    if with_diff:
        for line in change.diff().splitlines():
            _say(line)
    changes.apply(change)
    errors.note(f"{change.path}: written; frontload init without --write shows the next steps")
    return EXIT_OK


def _as_json(folder, found, output, looked, advised, change) -> dict:
    return {
        "schema": SCHEMA,
        "frontload": __version__,
        "folder": folder.as_json(),
        "programs": [each.as_json() for each in found],
        "target": output or None,
        **looked.as_json(),
        "advice": advised.as_json(),
        "change": None if change is None else {
            "file": change.path, "there_already": change.done, "obstacle": change.obstacle or None,
            "diff": change.diff() if change.after and not change.done else None},
    }
