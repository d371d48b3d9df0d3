"""frontload predict: what a cold start will read, and how long on devices that one does not have.

The model of the kernel is frontload-predict's (tools/predict); measure/prediction.py asks it.
"""

import argparse
import math

from frontload.base import console, errors, files
from frontload.base.errors import EXIT_OK
from frontload.cli.arguments import add_json, count, named
from frontload.device import kinds as devices
from frontload.measure import prediction
from frontload.measure.prediction import Variant
from frontload.profile import trace

DESCRIPTION = """\
Predict from traces how a program starts from cold: page faults, what is read in how many requests,
and how long a disk, eMMC, SSD or network file system takes for it. Nothing is run or evicted, and
no such device is needed.

Traces are files, or folders of them, of one build (--recorded: the first variant, or without any
the program that the traces name); what they touched is found in the others by names and references.
Those with data tell all of a start: if there are any, the others are left out. docs/predict.md says
how near to the kernel's counts predictions are.
"""
EXAMPLES = """\
# what a front is worth on a disk, eMMC, SSD and network file system
frontload record --data -o traces -- ./app --its arguments
frontload predict --variant before=./app --variant after=./app.front traces
# on a device of which two figures are known
frontload predict --device custom --device-iops 150 --device-bandwidth 80M traces
"""


def add_parser(verbs) -> argparse.ArgumentParser:
    parser = verbs.add_parser(
        "predict", description=DESCRIPTION, examples=EXAMPLES)
    parser.add_argument("--variant", metavar="NAME=BINARY", action="append", default=[],
                        type=_variant, dest="variants", help="a build to predict for, or a library "
                        "that the recorded program has loaded; may be repeated: the first one is "
                        "what the others are compared with")
    parser.add_argument("--recorded", metavar="BINARY", help="the build that the traces are of")
    parser.add_argument("--prefetch", metavar="SIZE", default="auto",
                        help="how much of a file is asked for before it is relocated: auto (the "
                        "front, where it was linked with --front-prefetch), front (as `frontload "
                        "run` does), none, a number of bytes, or all (as one who reads the file "
                        "before) (default %(default)s)")
    parser.add_argument("--warm", metavar="SECONDS", type=_positive, help="add what a warm start "
                        "takes (see frontload measure) to the time of the device")
    device = parser.add_argument_group("devices")
    device.add_argument("--device", action="append", default=[],
                        choices=(*devices.KINDS, devices.CUSTOM, "all"),
                        help="may be repeated (default: all that have figures of their own)")
    device.add_argument("--device-iops", metavar="N", type=_positive,
                        help="of a custom device: requests per second")
    device.add_argument("--device-latency", metavar="SECONDS", type=_positive,
                        help="or: from a request to its first byte")
    device.add_argument("--device-bandwidth", metavar="N[k|M|G]", type=_bandwidth,
                        help="of a custom device: bytes per second")
    device.add_argument("--read-ahead", metavar="KIB", type=count(0),
                        help="of all of them (default: 128)")
    add_json(parser, before_files=True)
    parser.add_argument("traces", metavar="TRACE", nargs="+", help="a trace, or a folder of them")
    return parser


def _variant(text: str) -> Variant:
    return Variant(*named("NAME=BINARY")(text))


def _positive(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0
    if not (value > 0 and math.isfinite(value)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return value


def _bandwidth(text: str) -> float:
    return _positive(text.rstrip("kMG")) * {"k": 1e3, "M": 1e6, "G": 1e9}.get(text[-1:], 1)


def run(args: argparse.Namespace) -> int:
    found = trace.expand(args.traces)
    traces, have_data = prediction.telling(found)
    recorded = args.recorded
    if recorded is None:
        recorded = args.variants[0].binary if args.variants else prediction.main_program(traces[0])
    variants = args.variants or [Variant("recorded", recorded)]
    if len({variant.name for variant in variants}) < len(variants):
        raise errors.Failure("--variant: two variants have the same name",
                             note="name each of them: --variant before=FILE --variant after=FILE")
    document = prediction.predict(variants, traces, recorded, options=_options(args),
                                  warm_seconds=args.warm)
    if args.json:
        files.write_json(args.json, document)
    if args.json == files.STDOUT:
        return EXIT_OK
    _show(document)
    if not have_data:
        errors.note("traces of functions alone make starts look shorter than they are: record with "
                    "--data")
    elif len(traces) < len(found):
        errors.note(f"{errors.count(len(found) - len(traces), 'trace')} of functions alone "
                    f"{'is' if len(found) - len(traces) == 1 else 'are'} left out: those with data "
                    "have the functions, too")
    return EXIT_OK


def _options(args: argparse.Namespace) -> list[str]:
    options = [f"--prefetch={args.prefetch}"]
    chosen = list(dict.fromkeys(args.device))
    if "all" not in chosen:
        options += [f"--device={name}" for name in chosen]
    elif devices.CUSTOM in chosen:
        options.append(f"--device={','.join((*devices.KINDS, devices.CUSTOM))}")
    for name in ("device_iops", "device_latency", "device_bandwidth", "read_ahead"):
        value = getattr(args, name)
        if value is not None:
            options.append(f"--{name.replace('_', '-')}={value!r}")
    return options


def _show(document: dict) -> None:
    is_compared = len(document["variants"]) > 1
    headings = ["variant", "device", "major\nfaults", "minor\nfaults", "MB\nread", "runs\nread",
                "requests", "seconds"]
    if is_compared:
        headings.append(f"times as fast\nas {document['variants'][0]['name']}")
    table = console.table(*headings, numbers=range(2, len(headings)))
    for device in document["devices"]:
        for position, variant in enumerate(document["variants"]):
            figures = variant["devices"][device["name"]]
            seconds = figures.get("total_seconds", figures["seconds"])
            times = figures["gain"]["times"]
            console.add_row(
                table, variant["name"], device["name"], f"{figures['major_faults']:.0f}",
                f"{figures['minor_faults']:.0f}", f"{figures['read_bytes'] / 1e6:.1f}",
                f"{figures['read_runs']:.0f}", f"{figures['requests']:.0f}", f"{seconds:.3f}",
                *([f"{times:.1f}" if position and times else ""] if is_compared else []))
    console.show(table)
    print("seconds are the device's" + (", and a warm start's" if document["warm_seconds"] else
                                        "; --warm adds those of the processor"))
    for device in document["devices"]:
        print(f"{device['name']}: {device['description']}, "
              f"{device['read_ahead_kib']} KiB read ahead")
    for variant in document["variants"]:
        mine = [each for each in document["predictions"] if each["variant"] == variant["name"]]
        touches, missing = (sum(each[key] for each in mine) for key in ("touches", "missing"))
        if missing:
            print(f"{errors.printable(variant['name'])}: left out, for it was not found there: "
                  f"{errors.percent(missing, touches)} of what was touched")
