"""frontload report: what starts read, as a page to look at."""

import argparse
import os
import re
from dataclasses import replace

from frontload.base import console, errors, packages, processes
from frontload.base.errors import EXIT_OK, EXIT_VERDICT, Failure
from frontload.base.files import STDOUT, write_if_changed, write_output
from frontload.base.ready import Ready
from frontload.cli import conditions, device_options, ready_options
from frontload.cli.arguments import add_json, named
from frontload.cli.parser import Parser
from frontload.device.kinds import Device

DESCRIPTION = """\
Make one HTML page of recorded starts, side by side: each fault in its file and in time, what was
read of each file and what of that was not needed, the time of each phase, and what could improve.
The page needs no network and no other file.

report records the starts now, with {} in the command for the program of each variant (--device hdd
records them on a disk that you need not have), or reads starts that `frontload faults` recorded. It
compares the others with the first.
"""
EXAMPLES = """\
# record the starts of two builds and report them
frontload report -o app.html --variant before=./app --variant after=./app.front -- {} --version
# see which pages the front and a list ask for
frontload report -o app.html --files app.files --variant app=./app.front -- {} --version
# report what frontload faults recorded
frontload report -o app.html --traces traces before=app.faults.json after=front.faults.json
"""
EXIT_STATUS = {"1": "the recorded command failed"}


def make_parser() -> Parser:
    parser = Parser(
        "frontload report", usage="%(prog)s [options] [NAME=]FAULTS.json...\n"
        "       %(prog)s [options] --variant NAME=BINARY... -- COMMAND",
        description=DESCRIPTION, examples=EXAMPLES, exit_status=EXIT_STATUS)
    output = parser.add_argument_group("what to write (at least one of them)")
    output.add_argument("-o", "--output", metavar="FILE.html",
                        help="the page to write; - is stdout")
    add_json(output, "the data of the page as JSON", instead_of="", not_over="frontload-faults/")
    parser.add_argument("--title", help="the title of the page (default: the name of the program)")
    known = parser.add_argument_group("further inputs")
    known.add_argument("--traces", metavar="PATH", action="append", default=[],
                       help="a trace of any of the programs, or a folder of them, from frontload "
                       "record, best with --data, which tells what was touched; may be repeated")
    known.add_argument("--files", metavar="LIST", action="append", default=[],
                       help="a prefetch list for frontload-run --files, or a folder of them: show "
                       "which pages it asks for, and which the front; may be repeated")
    known.add_argument("--map", metavar="FILE", action="append", default=[],
                       help="the map of a link, which tells the objects; may be repeated")
    known.add_argument("--binary", metavar="BINARY", action="append", default=[],
                       help="a program or library that is no longer where it was recorded; may be "
                       "repeated")
    now = parser.add_argument_group("recording starts now")
    now.add_argument("--variant", metavar="NAME=BINARY", action="append", default=[],
                     type=named("NAME=BINARY"), help="a program to evict and then start in the "
                                                "place of {} in COMMAND; may be repeated")
    conditions.add_eviction(now)
    ready_options.add_until(now, ready_options.KEEPS_RUNNING)
    now.add_argument("--keep", metavar="DIR", help="the folder to keep the recordings in, as "
                     "NAME.faults.json")
    device_options.add(parser)
    ready_options.add(parser)
    parser.add_argument("inputs", metavar="[NAME=]FAULTS.json | COMMAND", nargs="+",
                        help="the JSON of frontload faults; or the command to record, and its "
                        "arguments, after --")
    return parser


def run(args: argparse.Namespace) -> int:
    if not (args.output or args.json):
        args.usage_error("say what to write: -o FILE.html or --json FILE")
    if args.output == args.json == STDOUT:
        args.usage_error("-o - and --json - both write to stdout")
    if not args.variant and (args.keep or args.evict or args.until or args.allow_warm
                             or args.evict_seen or args.device):
        args.usage_error("--keep, --evict, --evict-seen, --allow-warm, --until and --device are "
                         "for starts that are recorded now, with --variant")
    device, ready = device_options.chosen(args), ready_options.of_recording(args)
    if ready and not args.variant:
        args.usage_error("--until-..., --for and --tty are for starts that are recorded now, with "
                         "--variant")
    packages.require("report")
    from frontload.profile import trace
    from frontload.reading import asked
    from frontload.report import model

    recordings = _record(args, device, ready) if args.variant else _read(args.inputs)
    names = [recording.variant for recording in recordings]
    if len(set(names)) < len(names):
        raise Failure("two variants have the same name",
                      note="name each of them: before=FAULTS.json after=FAULTS.json")
    document = model.build(recordings, traces=trace.expand(args.traces), maps=args.map,
                           binaries=args.binary, title=args.title, lists=asked.read(args.files))
    if args.output:
        from frontload.report import page

        write_output(args.output, page.render(document))
    if args.json:
        write_output(args.json, model.dump(document))
    return EXIT_OK


def _read(inputs: list[str]) -> list:
    """The recorded starts in files, under the given names."""
    from frontload.report import recorded

    found = []
    for text in inputs:
        name, equals, path = text.partition("=")
        # The name of a file may itself have an =.
        if not equals or not path or os.path.exists(text):
            name, path = "", text
        recording = recorded.read(path)
        found.append(replace(recording, variant=name) if name else recording)
    return found


@processes.unwinding_on_signals()
def _record(args: argparse.Namespace, device: Device | None, ready: Ready | None) -> list:
    """Records a start of each variant, from cold."""
    from frontload.faults import document, start
    from frontload.measure.plan import make_variants
    from frontload.report import recorded

    found = []
    for variant in console.progress(make_variants(args.inputs, args.variant, args.evict),
                                    "recording starts"):
        made, sample = start.record(
            variant.command, variant.name, evict=variant.files, evict_seen=args.evict_seen,
            allow_warm=args.allow_warm, until=args.until, ready=ready, device=device,
            extra=args.extra)
        if sample.failed:
            raise Failure(sample.failure_of(variant.command[0]), code=EXIT_VERDICT,
                          note="frontload faults --ignore-failure --json FILE records it anyway, "
                               "and report takes that FILE")
        # A page without any fault is useless, so the remedies are reported at once.
        for each in made["missing"] if made["faults"] is None else ():
            errors.warning(f"{variant.name}: not recorded: {each['what']}: {each['why']}")
            if each["remedy"]:
                errors.note(each["remedy"])
        data, path = document.dump(made), re.sub(r"[^\w.+-]", "_", variant.name) + ".faults.json"
        if args.keep:
            os.makedirs(args.keep, exist_ok=True)
            path = os.path.join(args.keep, path)
            write_if_changed(path, data)
        found.append(recorded.parse(data, path))
    return found
