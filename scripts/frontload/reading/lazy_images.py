"""Prefetch lists as the tools take them that fetch images of containers lazily, in chunks.

nydus    `nydus-image optimize --prefetch-files FILE`: {"version": "v1", "files": [{"path": "/a",
         "ranges": [[offset, size]]}]}, the only one with ranges
         (dragonflyoss/nydus, builder/src/optimize_prefetch.rs)
soci     `soci create --prefetch-files-json FILE`: an array of paths
         (awslabs/soci-snapshotter, docs/prefetch.md, cmd/soci/commands/internal)
estargz  `nerdctl image convert --estargz-record-in FILE`, also --zstdchunked-record-in: an object
         with a path for each file, as `ctr-remote optimize --record-out` records them, which puts
         these files before the landmark
         (containerd/stargz-snapshotter, recorder/recorder.go and docs/stargz-estargz.md)

Files come in the order of first touch, which all of them keep. Their texts are UTF-8, so other
names are left out.
"""

import json
import os
from collections.abc import Iterable

from frontload.reading.listing import File, PrefetchList, Range

NYDUS, SOCI, ESTARGZ = FORMATS = ("nydus", "soci", "estargz")


def to_bytes(touched: PrefetchList, form: str, root: str = "/") -> tuple[bytes, int]:
    """The text in one of these formats, and how many files are left out: those without a UTF-8
    name, or outside of `root`, the folder that is the root of the image."""
    prefix = os.path.join(root, "")
    files: list[tuple[str, File]] = []
    for file in touched.in_order():
        if file.path.startswith(prefix) and _is_text(file.path):
            files.append(("/" + file.path.removeprefix(prefix), file))
    document: object
    if form == ESTARGZ:
        text = "".join(json.dumps({"path": path[1:]}) + "\n" for path, _ in files)
    else:
        document = [path for path, _ in files] if form == SOCI else {
            "version": "v1", "files": [
                {"path": path, "ranges": _joined(touched.ranges(file))} for path, file in files]}
        text = json.dumps(document, indent=1) + "\n"
    return text.encode(), len(touched.in_order()) - len(files)


def _joined(ranges: Iterable[Range]) -> list[list[int]]:
    """As pairs of offset and size. nydus-image compares each with each chunk of its file."""
    found: list[list[int]] = []
    for each in ranges:
        if not found or sum(found[-1]) < each.begin:
            found.append([each.begin, 0])
        found[-1][1] = each.end - found[-1][0]
    return found


def _is_text(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
