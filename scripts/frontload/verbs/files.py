"""frontload files: merges prefetch lists, and makes them from startup profiles."""

import argparse
import json

from frontload.base import errors, files
from frontload.base.errors import EXIT_OK
from frontload.cli.arguments import add_json, add_min_match
from frontload.cli.parser import Parser

DESCRIPTION = """\
Merge prefetch lists: what starts read of all their files, page by page, as `frontload record
--files` has recorded it. `frontload-run --files` asks for that before the start needs it. The same
lists give the same bytes in any order.

With --binary, make a list from a startup profile instead: what that start touches of this build,
whichever linker made it, though it was never recorded. A profile of another build does, too. A
stripped file needs its debug information. Of a start with libraries, give the profile of each: the
program's needed libraries are found by their names.
"""
EXAMPLES = """\
# what three starts read, as one list
frontload record --all-files -o lists -- ./app --version
frontload record --all-files -o lists -- ./app --its arguments
frontload record --all-files -o lists -- ./app --other arguments
frontload files lists -o app.files
frontload-run --files=app.files -- ./app --its arguments
# what the start of this build will read, by its startup profile
frontload files app.startup --binary app -o app.files
# the same with two of its libraries
frontload files app.startup libfoo.startup libbar.startup --binary app -o app.files
# the same for an image builder, a range a line
frontload files lists --json-lines app.jsonl
# the same as nydus takes it, for a container whose root was recorded in /rootfs
frontload files lists --format nydus --root /rootfs -o app.json
# for a machine that has the files on a disk
frontload files lists --order blocks -o app.files
# for an image that is built again, with files of the same contents and other times
frontload files lists --hash -o kept.files
frontload files kept.files --renew -o app.files
"""
SCHEMA = "frontload-files/1"
TOUCH, BLOCKS = "touch", "blocks"
LIST = "list"
_MAX_NAMED = 5


def make_parser() -> Parser:
    parser = Parser("frontload files", description=DESCRIPTION, examples=EXAMPLES)
    parser.add_argument("-o", "--output", metavar="FILE",
                        help="the list to write (default: stdout, as with -)")
    add_json(parser, "the merged list as JSON")
    parser.add_argument("--json-lines", metavar="FILE", help="write each range as a line of JSON "
                        "to FILE, in the order of first touch: path, offset, length, rank; for "
                        "what builds images of containers")
    parser.add_argument("--format", choices=(LIST, "nydus", "soci", "estargz"), default=LIST,
                        help="what --output has: a prefetch list, or the file that a tool for "
                        "lazily fetched images takes: nydus-image optimize --prefetch-files, soci "
                        "create --prefetch-files-json, nerdctl image convert --estargz-record-in "
                        "(default %(default)s)")
    parser.add_argument("--root", metavar="DIR", default="/", help="for these, the root of the "
                        "image when it was recorded (default %(default)s)")
    parser.add_argument("--hash", action="store_true", help="add the SHA-256 of each file that has "
                        "no build-id, for --renew")
    parser.add_argument("--renew", action="store_true", help="take the times of the files as they "
                        "are here, if these have the contents that were recorded, as build-ids and "
                        "hashes tell")
    parser.add_argument("--order", choices=(TOUCH, BLOCKS), default=TOUCH, help="ask for the files "
                        "as the start touches them, or as they lie on this machine's device, which "
                        "a disk likes better (default %(default)s)")
    parser.add_argument("--binary", metavar="FILE", action="append", default=[],
                        help="make a list of this program or library from its startup profile "
                        "(may be repeated, the program first)")
    add_min_match(parser)
    parser.add_argument("lists", metavar="LIST", nargs="+",
                        help="a prefetch list, or a folder of them; or a startup profile")
    return parser


def run(args: argparse.Namespace) -> int:
    from frontload.reading import blocks, contents, from_profile, lazy_images, listing

    merged = listing.PrefetchList()
    # Without --binary, all are lists, which may be pipes and are read once.
    profiles = [path for path in args.lists if args.binary and from_profile.is_profile(path)]
    if args.binary:
        if not profiles:
            args.usage_error("--binary: no startup profile is given")
        messages = errors.Diagnostics()
        merged.add(from_profile.make(profiles, args.binary, args.min_match, messages))
        messages.show()
    for path in listing.find(path for path in args.lists if path not in profiles):
        read = listing.read(path)
        if args.renew:
            read, renewed, others = contents.renew(read)
            errors.note(f"{path}: {errors.count(renewed, 'file')} renewed")
            _warn(others, f"{path}: not here, or with other contents, and left as they were")
        for file in merged.add(read):
            errors.warning(f"{file.path}: was another file when some lists were recorded; what "
                           "those say of it is left out")
    if args.hash:
        _warn(contents.add_hashes(merged), "not what was recorded, and without a hash")
    if args.json:
        files.write_json(args.json, {"schema": SCHEMA, "runs": merged.runs, "files": [
            {"path": file.path, "size": file.size, "changed_ns": file.changed_ns,
             "build_id": file.build_id or None, "sha256": merged.sha256.get(file),
             "ranges": [{"offset": each.begin, "bytes": each.end - each.begin,
                         "rank": each.first.rank, "runs": each.first.runs, "how": each.first.how}
                        for each in merged.ranges(file)]} for file in merged.in_order()]})
    if args.json_lines:
        files.write_output(args.json_lines, "".join(
            json.dumps({"path": path, "offset": each.begin, "length": each.end - each.begin,
                        "rank": each.first.rank}) + "\n"
            for path, each in merged.in_order_of_touch()).encode())
    if args.format != LIST:
        data, left_out = lazy_images.to_bytes(merged, args.format, args.root)
        files.write_output(args.output, data)
        if left_out:
            errors.note(f"{errors.count(left_out, 'file')} left out: not in {args.root}, or no "
                        "UTF-8")
    elif args.output or not (args.json or args.json_lines):
        order = merged.in_order()
        if args.order == BLOCKS:
            order = blocks.in_order(merged, order)
        files.write_profile(args.output, listing.to_bytes(merged, order))
    errors.note(f"{errors.count(len(merged.in_order()), 'file')}, {merged.size() / 1e6:.1f} MB, "
                f"from {errors.count(merged.runs, 'run')}")
    return EXIT_OK


def _warn(paths: list[str], what: str) -> None:
    """Names some of the files that lack something."""
    if paths:
        more = f", and {len(paths) - _MAX_NAMED} more" if len(paths) > _MAX_NAMED else ""
        errors.warning(f"{what}: {', '.join(paths[:_MAX_NAMED])}{more}")
