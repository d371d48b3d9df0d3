"""Formats with one symbol a line: which symbols are listed, counted and left out."""

from collections.abc import Callable, Sequence

from frontload.base import errors
from frontload.order.request import Order, Request, lines
from frontload.profile.startup_profile import Name

WHITE_SPACE = b" \t\n\v\f\r"  # stripped from the ends of a line by LLVM's readers
FUNCTIONS, SYMBOLS = ("function",), ("function", "data")


def unversioned(name: bytes) -> bytes:
    """The part before the @ of a symbol with an ELF version (`name@@VERSION`, by .symver)."""
    return name.partition(b"@")[0] or name


def list_symbols(request: Request, linker: str, spell: Callable[[int, Name], list[bytes | None]],
                 in_link: Sequence[bool], reason: str,
                 kinds: tuple[str, ...] = SYMBOLS) -> Order:
    """The file of a linker that takes a line for each entry of some kinds.

    spell: the lines for an entry, by its number and name, with None in place of one that cannot be
           written
    in_link: for each entry, whether it is defined at all
    reason: what makes names unwritable
    """
    written: dict[bytes, None] = {}
    found: dict[bytes, bool] = {}  # by name; the same name may have several entries
    refused: set[bytes] = set()
    others = 0
    for number, entry in enumerate(request.entries):
        if entry.kind not in kinds:
            others += 1
            continue
        found[entry.name] = in_link[number] or found.get(entry.name, False)
        for line in spell(number, entry):
            if line is None:
                refused.add(entry.name)
            else:
                written[line] = None
    order = Order(lines(written), sum(found.values()),
                  [name for name, good in found.items() if not good])
    report(order, linker, len(refused), reason, len(request.entries), others, kinds)
    return order


def report(order: Order, linker: str, refused: int, reason: str, entries: int, others: int,
           kinds: tuple[str, ...]) -> None:
    """Notes in an order how many names its format cannot hold, and why it has fewer names than the
    profile has entries, `others` of which are of other kinds."""
    if refused:
        order.warnings.append(f"{errors.count(refused, 'name')} left out, which {linker} cannot "
                              f"read from a file: {reason}")
    if others and kinds == SYMBOLS:
        what = errors.count(others, "section or string", "sections and strings")
        order.notes.append(f"{what} left out: {linker} orders symbols only")
    elif others:
        what = errors.count(others, "name that is no function's", "names that are no function's")
        order.notes.append(f"{what} left out: {linker} orders functions only")
    if namesakes := entries - others - order.wanted:
        order.notes.append(errors.count(
            namesakes, "name also belongs to another file, and is counted once",
            "names also belong to other files, and are counted once"))
