"""The options of a separate device for measured starts, such as --device.

Verbs that measure or record starts have them: add() declares them, chosen() reads them. frontload
predict has its own: it predicts for several devices at once, and for slower ones.
"""

import argparse
from dataclasses import replace

from frontload.cli.arguments import bandwidth, count
from frontload.device import image, kinds
from frontload.device.cold_device import READ_AHEAD_KIB
from frontload.device.kinds import Device

# Slower requests, of more than a tenth of a second, would be missed (see settle in
# pagecache/cache.py).
_MIN_IOPS = 10
_MIN_BANDWIDTH = 10_000_000


def add(parser: argparse.ArgumentParser) -> None:
    device = parser.add_argument_group("a device of its own (needs root)")
    device.add_argument("--device", metavar="KIND",
                        choices=Kinds((*kinds.KINDS, kinds.LAZY, kinds.CUSTOM)),
                        help="hdd, emmc, ssd or nfs: copy the named files to a loop device that "
                        "the kernel slows down to this kind, and measure there; lazy is a file "
                        "system with 5 ms reads, 64 in parallel, like an image that is loaded over "
                        "a network; custom has the figures of the options below; squashfs:xz:1M is "
                        "a compressed image in memory, and hdd+squashfs:xz:1M one on a disk")
    device.add_argument("--device-iops", metavar="N", type=count(_MIN_IOPS),
                        help="requests per second of a custom device")
    device.add_argument("--device-bandwidth", metavar="N[k|M|G]", type=bandwidth(_MIN_BANDWIDTH),
                        help="bytes per second of a custom device")
    device.add_argument("--read-ahead", metavar="KIB", type=count(0),
                        help="the readahead of the device (default: what its kind has)")
    device.add_argument(
        "--beside", dest="extra", metavar="FILE", action="append", default=[],
        help="another file or folder that the program needs beside it; libraries that it finds "
        "relative to itself ($ORIGIN) are copied without this; may be repeated")


class Kinds(tuple[str, ...]):
    """Choices of an option: these disks, with an image or without."""

    also = f", nor an image: {image.syntax()}"

    def __contains__(self, name: object) -> bool:
        disk, held = kinds.split(str(name))
        return super().__contains__(disk) or bool(held and not disk)


def chosen(args: argparse.Namespace) -> Device | None:
    """The device that the options ask for; None if they ask for none."""
    if args.device is None and (args.read_ahead is not None or args.extra):
        args.usage_error("--read-ahead and --beside are for --device")
    disk, held = kinds.split(args.device or "")
    if disk != kinds.CUSTOM and (args.device_iops or args.device_bandwidth):
        args.usage_error("--device-iops and --device-bandwidth are for --device custom")
    if args.device is None:
        return None
    device: Device | None = None
    if disk == kinds.CUSTOM:
        device = kinds.custom(args.device_iops, args.device_bandwidth, READ_AHEAD_KIB)
    elif disk:
        device = kinds.find(disk)
    if held:
        if disk == kinds.LAZY:
            args.usage_error(f"--device {args.device}: can only be predicted")
        if held.startswith(image.BTRFS) and args.read_ahead is not None:
            args.usage_error("--read-ahead is not for btrfs, which has its own")
        device = kinds.with_image(device, args.device, held)
    assert device
    if args.read_ahead is not None:
        device = replace(device, read_ahead_kib=args.read_ahead)
    return device
