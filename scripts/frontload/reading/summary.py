"""The contents of a reading list, as figures and as a list of ranges."""

from collections.abc import Iterator

from frontload.base.files import Document
from frontload.reading.listing import ReadingList


def describe(listing: ReadingList) -> Document:
    """A list without its ranges; the file with the most bytes comes first."""
    described: list[Document] = []
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


def ranges(listing: ReadingList) -> Iterator[Document]:
    """The ranges of all files, in the order of first touch."""
    for path, each in listing.in_order_of_touch():
        yield {"rank": each.first.rank, "runs": each.first.runs, "how": each.first.how,
               "offset": each.begin, "bytes": each.end - each.begin, "path": path}
