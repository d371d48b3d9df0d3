"""The prefetch list: the pages of all files that a start touches, in order of first touch.

This declares the format. A prefetch list is a text file, which can be merged:

    frontload-files 1
    runs 2
    probe 65536 /usr/lib/libfoo.so.1
    # path, size, time of the last change, build-id; offset+length, rank, runs, how
    file<TAB>/usr/lib/libfoo.so.1<TAB>1926232<TAB>1738000000.000000000<TAB>6a981b07
    <TAB>0+8192<TAB>12<TAB>2<TAB>map
    <TAB>65536+4096<TAB>9<TAB>1<TAB>map
    file<TAB>/etc/foo.conf<TAB>112<TAB>1738000001.500000000<TAB>-
    <TAB>0+4096<TAB>14<TAB>2<TAB>read

Line 1 is the magic and the version; a reader refuses any other version. Every line, including the
last, ends in a newline. Empty lines and lines that start with `#` mean nothing. `runs` is how
many starts the list was made from; a list from startup profiles is one start. Up to 8 header lines
`probe` name an offset and a path: if the pages there are in memory, nothing of the list need be
asked for. The writer of a list chooses them, evenly in the order of first touch, and sorts them. A
merged list has its own. A line `learn yes` before them makes a program that the list lies beside
learn its starts; `alike` and `start` are notes of that (launcher/known_starts.h). A reader ignores
other header lines, `key value`, which all stand before the first file.

A line `file` begins a file. It describes the file as of the recording, or as of when the list was
made from a startup profile, so that a reader leaves a file alone that has changed since:

    path      absolute, without links, with the escapes of a startup profile (\\\\ \\t \\n \\xNN)
    size      in bytes
    changed   when its contents were last changed, in seconds and nanoseconds
    build-id  of an ELF file, in hexadecimal digits; - if it has none
    sha256    of the contents, in hexadecimal digits, if it was asked for: distinguishes a file
              that was only written again from a changed one. frontload-run does not look at it

The lines that begin with a TAB are what starts touch of that file, by offset, none of them
overlapping:

    place     the offset of the first byte, and how many bytes; whole pages of 4096 bytes, but for
              the end of the file
    rank      the place of its first page in the order of first touch of all pages of all files,
              from 0. Each page that follows it in the range has the next rank. Of several runs, the
              lowest counts
    runs      how many starts touched it
    how       map: by a mapping; read: by read(2); both

Files stand in the order in which they are to be asked for: that of their lowest rank, or for a disk
that of their blocks on it.
"""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypedDict

from frontload.base import files
from frontload.base.errors import BadData, Failure
from frontload.profile.format import MAGIC as PROFILE_MAGIC
from frontload.profile.format import escape, unescape

MAGIC = b"frontload-files"
VERSION = 1
SUFFIX = ".files"
PAGE = 4096
_PROBES = 8
# 4 GiB in all ranges together, which no start touches: each page takes a hundred bytes here.
_MOST_PAGES = 1 << 20
MAP, READ, BOTH = "map", "read", "both"
_NOTE = "make it with frontload record --all-files, and frontload files"
_FILE = re.compile(rb"file\t([^\t\n]+)\t(\d{1,18})\t(\d{1,12})\.(\d{9})\t(-|[0-9a-f]{2,128})"
                   rb"(?:\t([0-9a-f]{64}))?")
_RANGE = re.compile(rb"\t(\d{1,18})\+(\d{1,18})\t(\d{1,15})\t(\d{1,9})\t(map|read|both)")


@dataclass(frozen=True)
class File:
    path: str
    size: int
    changed_ns: int
    build_id: str = ""


@dataclass(frozen=True)
class Touch:
    """How a page was touched."""

    rank: int
    runs: int
    how: str

    def merged(self, other: "Touch") -> "Touch":
        return Touch(min(self.rank, other.rank), self.runs + other.runs,
                     self.how if self.how == other.how else BOTH)


@dataclass(frozen=True)
class Range:
    begin: int
    end: int
    first: Touch  # of its first page; the others have the ranks that follow


@dataclass
class PrefetchList:
    """`pages`: for each file, how each of its pages was touched; in a list that was read, the files
    are in the order of the text. `sha256`: the hashes of some of the files."""

    runs: int = 0
    pages: dict[File, dict[int, Touch]] = field(default_factory=dict)
    sha256: dict[File, str] = field(default_factory=dict)
    learns: bool = False

    def add(self, other: "PrefetchList") -> list[File]:
        """Merges `other` into this one. Returns the files whose time differs in the other list:
        only the newer version is kept."""
        self.runs += other.runs
        self.learns |= other.learns
        older = []
        known = {file.path: file for file in self.pages}
        for file, touches in other.pages.items():
            mine = known.get(file.path, file)
            if mine != file:
                newer = max(mine, file, key=lambda each: (each.changed_ns, each.size,
                                                          each.build_id))
                older.append(mine if newer == file else file)
                if newer != file:
                    continue
                del self.pages[mine]
                self.sha256.pop(mine, None)
            if file in other.sha256:
                self.sha256[file] = max(self.sha256.get(file, ""), other.sha256[file])
            pages = self.pages.setdefault(file, {})
            for page, touch in touches.items():
                pages[page] = pages[page].merged(touch) if page in pages else touch
        return older

    def ranges(self, file: File) -> Iterator[Range]:
        """The ranges of a file, by offset."""
        pages = sorted(self.pages[file].items())
        begin = 0
        for end, (page, touch) in enumerate(pages, 1):
            following = page + 1, Touch(touch.rank + 1, touch.runs, touch.how)
            if pages[end:end + 1] != [following]:
                yield Range(pages[begin][0] * PAGE, min((page + 1) * PAGE, file.size),
                            pages[begin][1])
                begin = end

    def in_order(self) -> list[File]:
        """The files by their lowest rank, without untouched ones."""
        return sorted((file for file, pages in self.pages.items() if pages),
                      key=lambda file: (min(touch.rank for touch in self.pages[file].values()),
                                        file.path))

    def in_order_of_touch(self) -> list[tuple[str, Range]]:
        """The ranges of all files, with their paths, by the rank of their first page."""
        return sorted(((file.path, each) for file in self.in_order() for each in self.ranges(file)),
                      key=lambda item: (item[1].first.rank, item[0], item[1].begin))

    def size(self) -> int:
        return sum(each.end - each.begin for file in self.in_order()
                   for each in self.ranges(file))


def probes(listing: PrefetchList) -> list[tuple[str, int]]:
    """Where to check whether all of a list is in memory: paths, and offsets there."""
    touched = sorted((touch.rank, file.path, page * PAGE)
                     for file, pages in listing.pages.items() for page, touch in pages.items())
    count = min(_PROBES, len(touched))
    return sorted(touched[(2 * number + 1) * len(touched) // (2 * count)][1:]
                  for number in range(count))


def to_bytes(listing: PrefetchList, in_order: Sequence[File] | None = None) -> bytes:
    """The text; files are requested `in_order` (default: by first touch)."""
    lines = [b"%s %d" % (MAGIC, VERSION), b"runs %d" % listing.runs,
             *[b"learn yes"] * listing.learns,
             *(b"probe %d %s" % (offset, escape(os.fsencode(path)))
               for path, offset in probes(listing)),
             b"# path, size, time of the last change, build-id; offset+length, rank, runs, how"]
    for file in listing.in_order() if in_order is None else in_order:
        seconds, nanoseconds = divmod(file.changed_ns, 1_000_000_000)
        sha256 = listing.sha256.get(file)
        lines.append(b"file\t%s\t%d\t%d.%09d\t%s%s" % (
            escape(os.fsencode(file.path)), file.size, seconds, nanoseconds,
            (file.build_id or "-").encode(), b"\t" + sha256.encode() if sha256 else b""))
        lines += [b"\t%d+%d\t%d\t%d\t%s" % (each.begin, each.end - each.begin, each.first.rank,
                                            each.first.runs, each.first.how.encode())
                  for each in listing.ranges(file)]
    return b"\n".join(lines) + b"\n"


def read(path: os.PathLike[str] | str) -> PrefetchList:
    """Reads a list; raises BadData if it is none."""
    with files.open_input(path, note=_NOTE) as stream:
        return parse(stream.read(), path)


def parse(data: bytes, path: os.PathLike[str] | str) -> PrefetchList:
    """The list in `data`; `path` is for messages."""
    lines = data.split(b"\n")
    if lines[0].startswith(PROFILE_MAGIC):
        raise BadData(path, "is a startup profile", note="give its program with --binary, to make "
                      "a prefetch list of it")
    if lines[0] != b"%s %d" % (MAGIC, VERSION):
        raise BadData(path, f"is no prefetch list of version {VERSION}", line=1, note=_NOTE)
    if lines.pop():
        raise BadData(path, "the last line has no end: it was cut", line=len(lines) + 1, note=_NOTE)
    found = PrefetchList()
    file, end, left = None, 0, _MOST_PAGES
    number = 1

    def bad(what: str) -> BadData:
        return BadData(path, what, line=number, note=_NOTE)

    for line in lines[1:]:
        number += 1
        if not line or line.startswith(b"#"):
            continue
        if match := _FILE.fullmatch(line):
            try:
                name = os.fsdecode(unescape(match[1]))
            except ValueError as problem:
                raise bad(str(problem)) from problem
            if not name.startswith("/"):
                raise bad(f"{name}: is not an absolute path")
            file, end = File(name, int(match[2]), int(match[3]) * 1_000_000_000 + int(match[4]),
                             "" if match[5] == b"-" else match[5].decode()), 0
            if file in found.pages:
                raise bad("the same file again")
            found.pages[file] = {}
            if match[6]:
                found.sha256[file] = match[6].decode()
        elif file is not None and (match := _RANGE.fullmatch(line)):
            begin, size, rank, runs = (int(match[group]) for group in range(1, 5))
            left -= -(-size // PAGE)
            if left < 0:
                raise bad("names more pages than a start touches")
            if begin < end or begin % PAGE or not size or begin + size > file.size \
                    or ((begin + size) % PAGE and begin + size != file.size):
                raise bad(f"{begin}+{size} is not in order, not of whole pages, or not in the file")
            end = begin + size
            for index, page in enumerate(range(begin // PAGE, -(-end // PAGE))):
                found.pages[file][page] = Touch(rank + index, runs, match[5].decode())
        elif file is None and (match := re.fullmatch(rb"runs (\d{1,9})", line)):
            found.runs = int(match[1])
        elif file is None and line == b"learn yes":
            found.learns = True
        elif file is not None or b"\t" in line:
            raise bad("is neither a file nor a range of one")
    if not found.runs:
        raise BadData(path, "does not say how many runs it was made from", note=_NOTE)
    return found


def is_list(path: os.PathLike[str] | str) -> bool:
    """Whether a file begins like a list, or a folder has any."""
    if os.path.isdir(path):
        return any(name.endswith(SUFFIX) for name in os.listdir(path))
    with files.open_input(path, note=_NOTE) as stream:
        return stream.read(len(MAGIC) + 1) == MAGIC + b" "


def find(paths: Iterable[str]) -> list[str]:
    """The lists at these paths: files, and all *.files in folders."""
    found = []
    for path in paths:
        if os.path.isdir(path):
            inside = sorted(name for name in os.listdir(path) if name.endswith(SUFFIX))
            if not inside:
                raise Failure(f"{path}: has no prefetch list (*{SUFFIX})", note=_NOTE)
            found += [os.path.join(path, name) for name in inside]
        else:
            found.append(path)
    return found


ListedFile = TypedDict("ListedFile", {
    "path": str, "size": int, "build_id": str | None, "touched_bytes": int,
    "every_run_bytes": int,  # that every start touched
    "ranges": int,
    "rank": int})  # of the first
Summary = TypedDict("Summary", {  # without the ranges; the file with the most bytes comes first
    "runs": int, "touched_bytes": int, "files": list[ListedFile]})
Entry = TypedDict("Entry", {
    "rank": int, "runs": int, "how": str, "offset": int, "bytes": int, "path": str})


def describe(listing: PrefetchList) -> Summary:
    described: list[ListedFile] = []
    for file in listing.in_order():
        ranges = list(listing.ranges(file))
        described.append({
            "path": file.path, "size": file.size, "build_id": file.build_id or None,
            "touched_bytes": sum(each.end - each.begin for each in ranges),
            "every_run_bytes": sum(each.end - each.begin for each in ranges
                                   if each.first.runs == listing.runs),
            "ranges": len(ranges), "rank": min(each.first.rank for each in ranges)})
    described.sort(key=lambda each: (-each["touched_bytes"], each["rank"]))
    return {"runs": listing.runs, "touched_bytes": listing.size(), "files": described}


def entries(listing: PrefetchList) -> Iterator[Entry]:
    """The ranges of all files, in the order of first touch."""
    for path, each in listing.in_order_of_touch():
        yield {"rank": each.first.rank, "runs": each.first.runs, "how": each.first.how,
               "offset": each.begin, "bytes": each.end - each.begin, "path": path}
