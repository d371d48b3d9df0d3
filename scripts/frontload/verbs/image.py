"""frontload image: packs a folder into a compressed image that starts quickly."""

import argparse
import os
from pathlib import Path

from frontload.base import errors, files
from frontload.base.console import say
from frontload.base.errors import EXIT_OK
from frontload.cli.arguments import add_json, file_only, percentage
from frontload.cli.parser import Parser

DESCRIPTION = """\
Pack FOLDER into a compressed image from which a known start has little to decompress. In such an
image, a touched page costs a whole block, and processor time on any device. With prefetch lists, or
with the fronts of the files in FOLDER, the image has the touched files first, in the order of first
touch, and their touched blocks uncompressed or, by zstd, compressed for speed. All else is
compressed as ever. What reads a plain image, also squashfuse, reads this one, and its contents are
the same to the byte.

--growth limits the size: what saves most time for a byte comes first. The same folder and lists
give the same bytes (SOURCE_DATE_EPOCH sets the image's time, by default that of the newest file).
This needs mksquashfs (squashfs-tools) or mkfs.erofs (erofs-utils).

In an EROFS image, only whole files can be stored, and those that are touched here and there have
the smallest clusters. Of an AppImage, the runtime is kept, and the image behind it replaced, with
the same compressor and block. A signature inside is then void.
"""
EXAMPLES = """\
# record a start of the unpacked program, and pack it
frontload record --all-files -o lists -- AppDir/usr/bin/app --version
frontload image AppDir -o app.squashfs --compressor xz --block 1M --files lists
# a folder whose programs have fronts needs no list
frontload image AppDir -o app.squashfs --compressor zstd
# lists of a program that was installed in /opt/app
frontload image AppDir -o app.squashfs --files app.files --root /opt/app
# pack an AppImage again, with a list that was recorded as it ran
frontload image app.AppImage -o new.AppImage --files app.files
"""
SCHEMA = "frontload-image/1"
SQUASHFS, EROFS = "squashfs", "erofs"
_USUAL = {SQUASHFS: ("zstd", "128K"), EROFS: ("lz4hc", "64K")}  # compressor, and block


def make_parser() -> Parser:
    parser = Parser("frontload image", description=DESCRIPTION, examples=EXAMPLES,
                    exit_status={"65": "a list or an AppImage is damaged"})
    parser.add_argument("folder", metavar="FOLDER", help="what is packed: a folder or an AppImage")
    parser.add_argument("-o", "--output", metavar="IMAGE", required=True, type=file_only)
    parser.add_argument("--files", metavar="LIST", action="append", default=[],
                        help="a prefetch list, or a folder of them (may be repeated; default: the "
                        "fronts in FOLDER)")
    parser.add_argument("--root", metavar="DIR", help="where FOLDER was when the lists were "
                        "recorded (default: where it is)")
    parser.add_argument("--format", choices=(SQUASHFS, EROFS), default=SQUASHFS,
                        help="the file system (default %(default)s)")
    parser.add_argument("--compressor", metavar="NAME", help="default: zstd; for EROFS lz4hc")
    parser.add_argument("--block", metavar="BYTES", help="what is decompressed at once: a block of "
                        "SquashFS (default 128K), a cluster of EROFS (64K), up to 1M")
    parser.add_argument("--growth", metavar="PERCENT", type=percentage, default=10.0,
                        help="how much larger than the plain image it may become (default "
                        "%(default)g)")
    parser.add_argument("--option", metavar="OPTION", action="append", default=[],
                        help="one more word for mksquashfs or mkfs.erofs, as --option=-all-root "
                        "(may be repeated)")
    add_json(parser, instead_of="the text")
    return parser


def run(args: argparse.Namespace) -> int:
    from frontload.device import image as images
    from frontload.device import squashfs
    from frontload.image import appimage, build, hot

    def wanted(compressor: str, block: str, options: list[str] = args.option) -> build.Wanted:
        name = f"{args.format}:{args.compressor or compressor}:{args.block or block}"
        if not (found := images.parse(name)):
            raise errors.Failure(f"{name}: is no image", note=f"there are {images.syntax()}")
        if reason := found.obstacle():
            raise errors.Failure(f"{name}: {reason}", note="choose another image")
        return build.Wanted(found, args.growth, tuple(options))

    given = Path(args.folder)
    messages = errors.Diagnostics(at_once=True)
    if given.is_dir():
        folder = Path(os.path.realpath(given))
        if Path(os.path.realpath(args.output)).is_relative_to(folder):
            raise errors.Failure(f"{args.output}: lies in {given}, and would be packed itself",
                                 note="choose a place outside")
        found = hot.find(folder, args.files, args.root or str(folder), messages)
        made = build.make(folder, found, wanted(*_USUAL[args.format]), Path(args.output))
        before = None
    else:
        files.open_input(given).close()
        if args.format != SQUASHFS:
            args.usage_error("--format: the image of an AppImage is SquashFS")
        before = given.stat().st_size
        with appimage.unpacked(given) as (folder, runtime, image):
            options = args.option if os.geteuid() == 0 else ["-all-root", *args.option]
            how = wanted(squashfs.COMPRESSORS[image.compressor - 1], str(image.block), options)
            found = hot.find(folder, args.files, args.root or os.path.realpath(given), messages)
            made = build.make(folder, found, how, Path(args.output), runtime)
        os.chmod(args.output, given.stat().st_mode & 0o777)
    if args.json:
        files.write_json(args.json, {"schema": SCHEMA, "before_bytes": before, **made})
    if args.json == files.STDOUT:
        return EXIT_OK
    if before:
        say(f"before: {before / 1e6:.2f} MB")
    say(f"{args.output}: {made['bytes'] / 1e6:.2f} MB, "
        f"{made['bytes'] / made['plain_bytes']:.3f} of the plain image; "
        f"{errors.count(made['hot_files'], 'hot file')}")
    if made["hot_bytes"] is not None:
        say(f"a start reads {errors.count(made['hot_blocks'] or 0, 'block')} of "
            f"{made['hot_bytes'] / 1e6:.2f} MB; {made['stored_bytes'] / 1e6:.2f} MB of these are "
            "not decompressed" + (f", {made['quick_bytes'] / 1e6:.2f} MB are compressed for speed"
                                  if made["quick_bytes"] else ""))
    return EXIT_OK
