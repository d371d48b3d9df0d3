"""frontload cargo: records a Rust program, and builds it with a front; also `cargo frontload`."""

import argparse
import hashlib
import shutil
from pathlib import Path

from frontload.auto import cargo
from frontload.auto.cargo import Program
from frontload.base import errors, files
from frontload.base.errors import EXIT_OK, Failure
from frontload.cli.arguments import add_min_match
from frontload.cli.parser import Parser, alias
from frontload.elf import file as elf
from frontload.profile import format as profile
from frontload.profile import merge, trace
from frontload.recording import run as recording

DESCRIPTION = """\
Give a Rust program a front, in its package's folder or with --manifest-path. If Frontload's bin
folder is in PATH, `cargo frontload` does the same.

record starts over when the program has changed. Builds are release builds in cargo's own target
folder. Only the last crate gets other arguments than with cargo build, so a changed profile
compiles and links only that crate again.

As with cargo, +TOOLCHAIN may come first: it names a toolchain of rustup.
"""
EXAMPLES = """\
# build the program and record a run; repeat for more runs
cargo frontload record -- --its arguments
# write startup/NAME.startup, and check it in
cargo frontload profile
# build the program with that profile
cargo frontload build
# the same without cargo, with another toolchain
frontload cargo +nightly build --prefetch
"""
EXIT_STATUS = {"1": "fewer than --min-match percent of the profile's names are found"}

# Cargo's own options, handed on: those with a value, and those without. Cargo's --profile is one of
# builds, and Frontload's elsewhere a startup profile: so it has a name of its own here, and cargo's
# works as well.
_PROFILE = "--profile"
_WITH_VALUE = {
    "--features": ("FEATURES", "features to activate"),
    "--target": ("TRIPLE", "the target to build for"),
    "--config": ("KEY=VALUE", "a value that overrides cargo's configuration"),
    "--jobs": ("N", "number of parallel jobs"),
}
_SHORT = {"--features": "-F", "--jobs": "-j"}
_WITHOUT_VALUE = {
    "--all-features": "activate all features",
    "--no-default-features": "do not activate the default features",
    "--locked": "fail if Cargo.lock would change",
    "--offline": "do not use the network",
    "--frozen": "the same as --locked and --offline",
}


def add_parser(verbs) -> argparse.ArgumentParser:
    parser = verbs.add_parser(
        "cargo", description=DESCRIPTION, examples=EXAMPLES, exit_status=EXIT_STATUS)
    _add_toolchain(parser)
    actions = parser.add_subparsers(dest="action", metavar="record|profile|build", required=True)

    recording = actions.add_parser(
        "record", help="build the program, run it, and record what it touches",
        usage="%(prog)s [+TOOLCHAIN] [OPTION]... [-- ARGUMENT...]",
        description="Build the program, run it with the arguments, and record what it touches.")
    recording.add_argument("--data", action="store_true",
                           help="also record which data is touched, in valgrind, which is some "
                           "hundred times slower")
    recording.add_argument("--until", metavar="SYMBOL",
                           help="startup ends when the program enters this function")
    _add_cargo_options(recording)
    recording.add_argument("arguments", metavar="ARGUMENT", nargs=argparse.REMAINDER,
                           help="arguments of the program, after --")
    recording.set_defaults(act=_record, usage_error=recording.error)

    profiling = actions.add_parser(
        "profile", help="write the startup profile of all recorded runs",
        usage="%(prog)s [+TOOLCHAIN] [OPTION]...",
        description="Write startup/NAME.startup in the package's folder, from all recorded runs.")
    _add_cargo_options(profiling)
    profiling.set_defaults(act=_profile)

    building = actions.add_parser(
        "build", help="build the program with its startup profile",
        usage="%(prog)s [+TOOLCHAIN] [OPTION]...",
        description="Build the program with a front, using startup/NAME.startup.")
    building.add_argument("--prefetch", action="store_true",
                          help="make the program prefetch its front before anything else; it then "
                          "needs libfrontload-prefetch.so.1 (docs/prefetch.md)")
    add_min_match(building)
    _add_cargo_options(building)
    building.set_defaults(act=_build)
    return parser


def _add_toolchain(parser: Parser) -> None:
    """+TOOLCHAIN is what rustup's cargo takes before all other words."""
    parser.take_first_word("+", "toolchain")


def _add_cargo_options(parser: Parser) -> None:
    _add_toolchain(parser)
    group = parser.add_argument_group("options of cargo")
    group.add_argument("--bin", metavar="NAME", help="the program, if the package has several")
    group.add_argument("-p", "--package", metavar="NAME",
                       help="the package of the program, in a workspace")
    group.add_argument("--manifest-path", metavar="FILE", help="the Cargo.toml of the package")
    profile_option = group.add_argument(
        "--cargo-profile", metavar="NAME", action="append", default=[],
        help="the profile to build with, as cargo's own --profile (default: release)")
    alias(profile_option, parser, _PROFILE)
    for option, (value, text) in _WITH_VALUE.items():
        group.add_argument(*filter(None, (_SHORT.get(option), option)), metavar=value,
                           action="append", default=[], help=text, dest=_destination(option))
    for option, text in _WITHOUT_VALUE.items():
        group.add_argument(option, action="store_true", help=text, dest=_destination(option))
    group.add_argument("-q", "--quiet", action="store_true", default=argparse.SUPPRESS,
                       help="show no messages of cargo, and no warnings and notes")
    group.add_argument("-v", "--verbose", action="count", default=argparse.SUPPRESS,
                       help="show each program that Frontload or cargo runs; -vv makes cargo show "
                       "more")


def _destination(option: str) -> str:
    return "cargo_" + option[2:].replace("-", "_")


def _cargo_options(args: argparse.Namespace) -> list[str]:
    options = [f"{option}={value}" for option in _WITH_VALUE
               for value in getattr(args, _destination(option))]
    options += [option for option in _WITHOUT_VALUE if getattr(args, _destination(option))]
    options += ["--verbose"] * getattr(args, "verbose", 0)
    if getattr(args, "quiet", False):
        options.append("--quiet")
    if args.cargo_profile:
        return [*(f"{_PROFILE}={name}" for name in args.cargo_profile), *options]
    return ["--release", *options]


def _profile_name(args: argparse.Namespace) -> str:
    return args.cargo_profile[-1] if args.cargo_profile else "release"


def run(args: argparse.Namespace) -> int:
    strict = [option for option in ("--locked", "--offline", "--frozen")
              if getattr(args, _destination(option))]
    kind = "-".join([_profile_name(args), *args.cargo_target])
    program = cargo.find_program(args.manifest_path, args.package, args.bin, kind, strict,
                                 getattr(args, "toolchain", ""))
    return args.act(args, program)


class _Recordings:
    """What is kept of a recorded program: its traces, itself, because these are of that very file,
    and the map of its link."""

    def __init__(self, program: Program):
        self.traces = program.work / "traces"
        self.binary = program.work / program.name
        self.map = program.work / f"{program.name}.map"


def _record(args: argparse.Namespace, program: Program) -> int:
    arguments = args.arguments[1:] if args.arguments[:1] == ["--"] else args.arguments
    kept = _Recordings(program)
    words = [f"-Map={kept.map}"]
    executable = cargo.link(program, _cargo_options(args), words)
    if elf.read(executable).symbols is None:
        # Of a release that is stripped; its names have other hashes then, which are found again.
        variable = f"CARGO_PROFILE_{_profile_name(args).upper().replace('-', '_')}_STRIP"
        executable = cargo.link(program, _cargo_options(args), words, **{variable: "debuginfo"})
    if files.write_if_changed(kept.binary, executable.read_bytes()):
        shutil.rmtree(kept.traces, ignore_errors=True)
    return recording.run([str(executable), *arguments], kept.traces, data=args.data,
                         until=args.until)


def _profile(_args: argparse.Namespace, program: Program) -> int:
    kept = _Recordings(program)
    if not kept.traces.is_dir():
        raise Failure(f"{program.name}: nothing is recorded yet",
                      note="record it first: cargo frontload record -- ARGUMENT...")
    traces = list(merge.expand([(str(kept.traces), 1)]))
    # Only data needs the map, and a map that nothing needs is warned of.
    has_data = any(trace.read(path).has_data for path, _ in traces)
    merger = merge.Merger(program.name, str(kept.binary), str(kept.map) if has_data else None)
    for path, weight in traces:
        merger.add(path, weight)
    result = merger.result()
    files.write_profile(program.profile, profile.to_bytes(result))
    errors.note(f"{program.profile}: {errors.count(len(result.touches), 'name')} from "
                f"{errors.count(result.runs, 'run')}")
    return EXIT_OK


def _build(args: argparse.Namespace, program: Program) -> int:
    if not program.profile.exists():
        errors.warning(f"{program.profile}: there is no startup profile: built without a front")
        errors.note("make it with: cargo frontload record, cargo frontload profile")
        cargo.build(program, _cargo_options(args))
        return EXIT_OK
    report = program.work / "front.json"
    words = [f"--startup-profile={_named_by_content(program)}", f"--front-report={report}",
             f"--min-match={args.min_match:g}"]
    if args.prefetch:
        words.append("--front-prefetch")
    executable = cargo.link(program, _cargo_options(args), words)
    placed = files.parse_json(report.read_bytes(), report)
    names = placed["names"]
    movable = names["total"] - names["unmovable"]
    errors.note(f"{executable}: {names['placed']} of {movable} names of {program.profile.name} are "
                f"in its front of {placed['front']['bytes']:,} bytes")
    return EXIT_OK


def _named_by_content(program: Program) -> Path:
    """A copy of the profile: cargo links again when an argument is another, not when a file is."""
    data = program.profile.read_bytes()
    copy = program.work / f"{program.name}-{hashlib.sha256(data).hexdigest()[:16]}.startup"
    program.work.mkdir(parents=True, exist_ok=True)
    for old in program.work.glob(f"{program.name}-*.startup"):
        if old != copy:
            old.unlink()
    files.write_if_changed(copy, data)
    return copy
