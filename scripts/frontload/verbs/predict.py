"""frontload predict: what a cold start will read, and how long on devices that one does not have.

The model of the kernel is frontload-predict's (tools/predict). measure/prediction.py asks it about
one program, reading/planning.py about whole starts.
"""

import argparse
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from frontload.base import console, errors, files
from frontload.base.console import say
from frontload.base.errors import EXIT_OK
from frontload.cli import device_options
from frontload.cli.arguments import add_json, bandwidth, count, named, positive, weighted
from frontload.cli.parser import Parser
from frontload.device import image
from frontload.device import kinds as devices

if TYPE_CHECKING:
    from frontload.measure.prediction import Build
    from frontload.measure.prediction import Document as Prediction
    from frontload.reading.planning import Document as PredictedStarts

DESCRIPTION = """\
Predict from traces how a program starts cold: page faults, what is read and in how many requests,
and how long that takes on a disk, eMMC, SSD or network file system. predict runs and evicts
nothing, and needs no such device.

Traces are files, or folders of them, of one build: the build that --recorded names, or the first
variant, or the program that the traces name. What they touched is found in the other builds by
names and references. Only traces with data describe a whole start; if there are any, predict leaves
out the others. docs/predict.md shows how close predictions come to what the kernel counts.

Prefetch lists (of frontload record --all-files) instead of traces are whole starts: what all of
their files cost as they are, with the list asked for, and if they had fronts; and which files gain
most.
"""
EXAMPLES = """\
# see what a front saves on a disk, eMMC, SSD and network file system
frontload record --data -o traces -- ./app --its arguments
frontload predict --variant before=./app --variant after=./app.front traces
# see what a list saves, the front, and both
frontload predict --variant app=./app --files app.files traces
# on a device of which you know two figures
frontload predict --device custom --device-iops 150 --device-bandwidth 80M traces
# see which libraries to link again first, for two programs, one of which starts more often
frontload predict --weighted-input 10,clang.files --weighted-input 1,lld.files
"""
_MAX_FILES = 15  # in a table
# A loop device in memory takes 70 us for a request (docs/predict.md).
_MEMORY = "--device=custom", "--device-iops=14000", "--device-bandwidth=1e15"


def make_parser() -> Parser:
    parser = Parser(
        "frontload predict", description=DESCRIPTION, examples=EXAMPLES)
    parser.add_argument("--variant", metavar="NAME=BINARY", action="append", default=[],
                        type=named("NAME=BINARY"), dest="variants",
                        help="a build to predict for, or a library that the recorded program "
                        "loaded; may be repeated: the others are compared with the first")
    parser.add_argument("--recorded", metavar="BINARY", help="the build that was recorded")
    parser.add_argument("--prefetched", metavar="SIZE", default="auto",
                        help="how much of a file is prefetched before it is relocated: auto (the "
                        "front, if it was linked with --front-prefetch), front (as with "
                        "frontload-run), none, a number of bytes, or all (as if the file was read "
                        "beforehand) (default %(default)s)")
    parser.add_argument("--files", metavar="LIST", action="append", default=[],
                        help="a prefetch list for frontload-run --files, or a folder of them: also "
                        "predict the variants that it names with it, with their front or another "
                        "linker's note, and with both; may be repeated")
    parser.add_argument("--warm-seconds", metavar="SECONDS", type=positive,
                        help="add the time of a warm start (see frontload measure) to the time of "
                        "the device")
    device = parser.add_argument_group("devices")
    device.add_argument("--device", action="append", default=[],
                        metavar="KIND", choices=device_options.Kinds(
                            (*devices.KINDS, devices.LAZY, devices.CUSTOM, "all")),
                        help="hdd, emmc, ssd, nfs, lazy (only for whole starts) or custom, or a "
                        "compressed or chunked image in memory or on one of them, such as "
                        "squashfs:xz:1M or lazy+chunks:4M; may be repeated (default: all but "
                        "custom and images)")
    device.add_argument("--device-iops", metavar="N", type=positive,
                        help="requests per second of a custom device")
    device.add_argument("--device-bandwidth", metavar="N[k|M|G]", type=bandwidth(),
                        help="bytes per second of a custom device")
    device.add_argument("--decompression", metavar="N[k|M|G]", type=bandwidth(),
                        help="bytes that are decompressed in a second (default: as measured on one "
                        "processor)")
    device.add_argument("--read-ahead", metavar="KIB", type=count(0),
                        help="the readahead of all devices (default 128)")
    device.add_argument("--kernel", metavar="VERSION", help="the version of Linux whose rules are "
                        "followed (default 6.18)")
    device.add_argument("--file-system", metavar="NAME", help="where the files lie: ext4 (the "
                        "default), xfs, btrfs, f2fs or erofs")
    device.add_argument("--page-size", metavar="KIB", type=count(1), help="the size of a page: 4 "
                        "(the default), 16 or 64")
    add_json(parser)
    parser.add_argument("--weighted-input", metavar="WEIGHT,LIST", action="append", default=[],
                        type=weighted, help="another prefetch list, of a start that happens WEIGHT "
                        "times as often; may be repeated")
    parser.add_argument("traces", metavar="TRACE", nargs="*", help="a trace, a prefetch list, or a "
                        "folder of either")
    return parser


def run(args: argparse.Namespace) -> int:
    if args.weighted_input or _are_lists(args.traces):
        return _run_starts(args)
    if not args.traces:
        raise errors.Failure("no input", note="give traces, or prefetch lists")
    from frontload.measure import prediction
    from frontload.measure.prediction import Build
    from frontload.profile import trace

    found = trace.expand(args.traces)
    traces, have_data = prediction.telling(found)
    recorded = args.recorded
    if recorded is None:
        recorded = args.variants[0][1] if args.variants else prediction.main_program(traces[0])
    variants = [Build(*given) for given in args.variants or [("recorded", recorded)]]
    if len({variant.name for variant in variants}) < len(variants):
        raise errors.Failure("--variant: two variants have the same name",
                             note="name each of them: --variant before=FILE --variant after=FILE")
    disks = [name for name in dict.fromkeys(args.device) if not devices.split(name)[1]]
    with _ways(variants, args) as builds:
        document = prediction.predict(
            builds, traces, recorded,
            options=_device_options(args, disks) if disks or not args.device else None,
            images=_image_options(args), decompression=args.decompression,
            warm_seconds=args.warm_seconds)
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
                    "contain the functions as well")
    return EXIT_OK


@contextmanager
def _ways(variants: "Sequence[Build]", args: argparse.Namespace) -> "Iterator[list[Build]]":
    """Each variant as it is, and, if a list names it, with its front or note, the list, and both.
    """
    from frontload.elf import file as elf
    from frontload.reading import asked, planning

    lists, notes, listed = asked.read(args.files), {}, []
    for build in variants if lists else ():
        pages = asked.union(asked.by_lists(lists, build.binary))
        if not len(pages):
            errors.warning(f"{build.binary}: no list has it as it is here")
            continue
        notes[build.name] = "".join(each.by for each in asked.by_note(elf.read(build.binary)))
        listed.append(planning.listed(build.binary, pages))
    with planning.question(listed) as path:
        ways = (("front", "{}", ("--prefetched=front",)),
                ("list", "list", ("--prefetched=none", f"--listed={path}")),
                ("front_and_list", "{} and list", ("--prefetched=front", f"--listed={path}")))
        builds = []
        for build in variants:
            builds.append(replace(build, options=(f"--prefetched={args.prefetched}",)))
            note = notes.get(build.name)
            builds += [replace(build, name=f"{build.name}: {title.format(note)}", way=way,
                               options=options)
                       for way, title, options in ways
                       if note or (note is not None and way == "list")]
        yield builds


def _are_lists(paths: list[str]) -> bool:
    from frontload.reading import listing

    found = {path: listing.is_list(path) for path in paths}
    if len(set(found.values())) > 1:
        raise errors.Failure(f"{next(path for path in found if found[path])}: is a prefetch list, "
                             "but other inputs are not", note="give traces, or prefetch lists")
    return any(found.values())


def _run_starts(args: argparse.Namespace) -> int:
    from frontload.reading import listing, planning

    for option, given in (("--variant", args.variants), ("--recorded", args.recorded),
                          ("--files", args.files), ("--warm-seconds", args.warm_seconds),
                          ("--device with an image", _image_options(args))):
        if given:
            raise errors.Failure(f"{option}: is not for prefetch lists",
                                 note="leave it out, or give traces")
    document = planning.predict(
        [planning.Input(path, weight) for given, weight in
         [*((path, 1) for path in args.traces), *args.weighted_input]
         for path in listing.find([given])], _device_options(args, dict.fromkeys(args.device)))
    if args.json:
        files.write_json(args.json, document)
    if args.json != files.STDOUT:
        _show_starts(document)
    return EXIT_OK


_TITLES = {"as_it_is": "as it is", "list": "with a list", "fronts": "with fronts",
           "fronts_and_list": "fronts and list"}


def _show_starts(document: "PredictedStarts") -> None:
    from frontload.reading import planning

    table = console.table("device", "start", "major\nfaults", "MB\nread", "requests", "seconds",
                          "times", numbers=range(2, 7))
    for device in document["devices"]:
        ways = document["starts"][device["name"]]
        for way, cost in ways.items():
            times = ways[planning.AS_IT_IS]["seconds"] / cost["seconds"]
            console.add_row(table, device["name"], _TITLES[way], f"{cost['major_faults']:,}",
                            f"{cost['read_bytes'] / 1e6:.1f}", f"{cost['requests']:,}",
                            f"{cost['seconds']:.3f}", f"{times:.1f}")
    console.show(table)
    say("seconds are the device's; a front is predicted as the touched pages side by side")
    first = document["devices"][0]["name"]
    several = len(document["lists"]) > 1
    table = console.table(
        "file", *(["of lists"] if several else []), "MB\ntouched", "MB\nread", "major\nfaults",
        "requests", "a list\nsaves s", "a front\nsaves s", "both\nsave s",
        numbers=range(1, 8 + several))
    for row in document["files"][:_MAX_FILES]:
        ways = row["devices"][first]
        cost = ways[planning.AS_IT_IS]
        console.add_row(
            table, console.path(row["path"]), *([str(row["lists"])] if several else []),
            f"{row['touched_bytes'] / 1e6:.2f}", f"{cost['read_bytes'] / 1e6:.2f}",
            f"{cost['major_faults']:,}", f"{cost['requests']:,}",
            f"{planning.gain(ways, planning.LIST):.3f}",
            f"{planning.gain(ways, planning.FRONTS):.3f}" if row["can_have_front"] else "",
            f"{planning.gain(ways, planning.BOTH):.3f}")
    console.show(table)
    if len(document["files"]) > _MAX_FILES:
        say(f"and {errors.count(len(document['files']) - _MAX_FILES, 'other file')}; these "
            f"figures are for {first}")


def _device_options(args: argparse.Namespace, disks: Iterable[str]) -> list[str]:
    """frontload-predict's, for these disks; without any, for those that are its default."""
    chosen = list(disks)
    if "all" in chosen:
        chosen = [*devices.KINDS, devices.CUSTOM] if devices.CUSTOM in chosen else []
    options = [f"--device={','.join(chosen)}"] if chosen else []
    for name in ("device_iops", "device_bandwidth", "read_ahead", "kernel", "file_system",
                 "page_size"):
        value = getattr(args, name)
        if value is not None:
            options.append(f"--{name.replace('_', '-')}={value}")
    return options


def _image_options(args: argparse.Namespace) -> dict[str, list[str]]:
    """By the name of an image's device: the options for the disk below it."""
    found = {}
    for name in args.device:
        disk, held = devices.split(name)
        if held:
            found[name] = _device_options(args, [disk]) if disk else list(_MEMORY)
            if held.startswith(image.BTRFS) and args.read_ahead is None:
                found[name].append(f"--read-ahead={devices.BTRFS_READ_AHEAD_KIB}")
    return found


def _show(document: "Prediction") -> None:
    """A narrow terminal has no room for minor faults, for which nothing is read."""
    wide = not console.is_narrow()
    is_compared = len(document["variants"]) > 1
    has_images = any("blocks" in each for each in document["variants"][0]["devices"].values())
    headings = ["variant", "device", "major\nfaults", *(["minor\nfaults"] if wide else []),
                "MB\nread", "extents\nread", "requests",
                *(["blocks", "MB decom-\npressed"] if has_images else []), "seconds"]
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
                *([f"{figures['minor_faults']:.0f}"] if wide else []),
                f"{figures['read_bytes'] / 1e6:.1f}",
                f"{figures['read_runs']:.0f}", f"{figures['requests']:.0f}",
                *([f"{figures['blocks']:.0f}", f"{figures['decompressed_bytes'] / 1e6:.1f}"]
                  if "blocks" in figures else ["", ""] * has_images), f"{seconds:.3f}",
                *([f"{times:.1f}" if position and times else ""] if is_compared else []))
    console.show(table)
    say("seconds are the device's" + ", with decompression" * has_images + (
        ", and a warm start's" if document["warm_seconds"] else
        "; --warm-seconds adds those of the processor"))
    for device in document["devices"]:
        say(f"{device['name']}: {device['description']}, "
            f"{device['read_ahead_kib']} KiB read ahead")
    for variant in document["variants"]:
        if variant["way"] != "as_it_is":
            continue  # the same touches
        mine = [each for each in document["predictions"] if each["variant"] == variant["name"]]
        touches, missing = (sum(each[key] for each in mine) for key in ("touches", "missing"))
        if missing:
            say(f"{variant['name']}: left out, because it is not there: "
                f"{errors.percent(missing, touches)} of what was touched")
