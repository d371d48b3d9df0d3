"""cargo frontload: records a Rust program, and builds it with a front."""

import argparse

from frontload.base.errors import EXIT_OK
from frontload.cli import ready_options
from frontload.cli.arguments import add_min_match
from frontload.cli.parser import Parser

DESCRIPTION = """\
Give a Rust program a front, in its package's folder or with --manifest-path. Cargo finds this
command if Frontload's bin folder is in PATH.

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
# the same with another toolchain
cargo frontload +nightly build --prefetch
"""
EXIT_STATUS = {"1": "fewer than --min-match percent of the profile's names are found"}

# Cargo's own options, handed on: those with a value, and those without.
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


def make_parser() -> Parser:
    parser = Parser(
        prog="cargo frontload", description=DESCRIPTION, examples=EXAMPLES, exit_status=EXIT_STATUS)
    _add_toolchain(parser)
    actions = parser.add_subparsers(dest="action", metavar="record|profile|build", required=True)

    recording = actions.add_parser(
        "record", help="build the program, run it, and record what it touches",
        usage="%(prog)s [+TOOLCHAIN] [OPTION]... [-- ARGUMENT...]",
        description="Build the program, run it with the arguments, and record what it touches.")
    recording.add_argument("--data", action="store_true",
                           help="also record which data is touched, in valgrind, which is some "
                           "forty times slower")
    recording.add_argument("--until", metavar="SYMBOL",
                           help="startup ends when the program enters this function; the program "
                           "keeps running unless --timeout is given")
    ready_options.add(recording)
    recording.set_defaults(usage_error=recording.error)
    _add_cargo_options(recording)
    recording.add_argument("arguments", metavar="ARGUMENT", nargs=argparse.REMAINDER,
                           help="arguments of the program, after --")

    profiling = actions.add_parser(
        "profile", help="write the startup profile of all recorded runs",
        usage="%(prog)s [+TOOLCHAIN] [OPTION]...",
        description="Write startup/NAME.startup in the package's folder, from all recorded runs.")
    _add_cargo_options(profiling)

    building = actions.add_parser(
        "build", help="build the program with its startup profile",
        usage="%(prog)s [+TOOLCHAIN] [OPTION]...",
        description="Build the program with a front, using startup/NAME.startup.")
    building.add_argument("--prefetch", action="store_true",
                          help="make the program prefetch its front before anything else; it then "
                          "needs libfrontload-prefetch.so.1 (docs/prefetch.md)")
    add_min_match(building)
    _add_cargo_options(building)
    return parser


def _add_toolchain(parser: Parser) -> None:
    """+TOOLCHAIN, which rustup's cargo takes before all other words."""
    parser.take_first_word("+", "toolchain")


def _add_cargo_options(parser: Parser) -> None:
    _add_toolchain(parser)
    group = parser.add_argument_group("options of cargo")
    group.add_argument("--bin", metavar="NAME", help="the program, if the package has several")
    group.add_argument("-p", "--package", metavar="NAME",
                       help="the package of the program, in a workspace")
    group.add_argument("--manifest-path", metavar="FILE", help="the Cargo.toml of the package")
    group.add_argument("--profile", dest="cargo_profile", metavar="NAME", action="append",
                       default=[], help="cargo's profile to build with (default: release)")
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
        return [*(f"--profile={name}" for name in args.cargo_profile), *options]
    return ["--release", *options]


def _profile_name(args: argparse.Namespace) -> str:
    return args.cargo_profile[-1] if args.cargo_profile else "release"


def run(args: argparse.Namespace) -> int:
    # Imported here because numpy takes a while, which --help need not pay.
    from frontload.auto import cargo, cargo_front

    strict = [option for option in ("--locked", "--offline", "--frozen")
              if getattr(args, _destination(option))]
    kind = "-".join([_profile_name(args), *args.cargo_target])
    program = cargo.find_program(args.manifest_path, args.package, args.bin, kind, strict,
                                 getattr(args, "toolchain", ""))
    options = _cargo_options(args)
    if args.action == "record":
        arguments = args.arguments[1:] if args.arguments[:1] == ["--"] else args.arguments
        return cargo_front.record(program, options, arguments, _profile_name(args),
                                  data=args.data, until=args.until,
                                  ready=ready_options.chosen(args, until=args.until))
    if args.action == "profile":
        cargo_front.write_profile(program)
    else:
        cargo_front.build(program, options, prefetch=args.prefetch, min_match=args.min_match)
    return EXIT_OK
