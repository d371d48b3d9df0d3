"""Which of a link's options cannot be combined with a front, and what is done about each.

REPLACED  the choice of a linker or a profile: those of the trial take their place
DROPPED   orders sections itself, strips symbols that are recorded and checked, or writes other
          files, which belong to the build
REFUSED   decides the layout, and the program may need it: we cannot link without it
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass

# lld's own orders, by call graph or balanced partitioning, apply outside the front.
_ORDERS = ("symbol-ordering-file", "section-ordering-file", "shuffle-sections")
_SIDE_FILES = ("Map", "dependency-file", "out-implib", "time-trace", "cref", "print-map",
               "reproduce", "why-extract", "print-symbol-order", "thinlto-index-only")
_OWN = ("startup-profile", "startup-profile-dir", "front-prefetch", "front-report", "min-match",
        "front-always", "front-never")
_WITH_VALUE = {"symbol-ordering-file", "section-ordering-file", "Map",
               "dependency-file", "out-implib", "reproduce", "why-extract", "print-symbol-order",
               "startup-profile", "startup-profile-dir", "front-report", "min-match",
               "section-start", "Ttext", "Tdata", "Tbss", "script", "default-script", "T"}
_PLACES = ("section-start", "Ttext", "Tdata", "Tbss", "Ttext-segment")
_STRIPPING = ("s", "strip-all")
_ONE_SEGMENT = "it puts everything into one segment"
_FIXED = {"N": _ONE_SEGMENT, "omagic": _ONE_SEGMENT,
          "unique": "it puts every section into one of its own"}

STRIPS = "it strips the names that are recorded and checked"
STRIP_LAST = "link without -s, and strip last: strip keeps the front"
REPLACED, DROPPED, REFUSED = "replaced", "dropped", "refused"


@dataclass(frozen=True)
class Token:
    """One argument: of the driver, or one that the driver passes to the linker."""

    text: str
    of_linker: bool


@dataclass(frozen=True)
class Hindrance:
    option: str
    kind: str
    why: str
    remedy: str


def tokens(arguments: Sequence[str], of_linker: bool = False) -> list[Token]:
    """A driver's arguments, with those for the linker one by one."""
    found = []
    rest = iter(arguments)
    for argument in rest:
        if of_linker:
            found.append(Token(argument, True))
        elif argument.startswith("-Wl,"):
            found += [Token(part, True) for part in argument[4:].split(",")]
        elif argument == "-Xlinker":
            found += [Token(part, True) for part in (next(rest, None),) if part is not None]
        else:
            found.append(Token(argument, False))
    return found


def arguments(found: Sequence[Token], of_linker: bool = False) -> list[str]:
    """The arguments that `tokens` reads as these."""
    result = []
    for token in found:
        if token.of_linker and not of_linker:
            result += ["-Xlinker", token.text] if "," in token.text else [f"-Wl,{token.text}"]
        else:
            result.append(token.text)
    return result


def separate(found: Sequence[Token], directory: str = ".") -> tuple[list[Token], list[Hindrance]]:
    """The tokens that can stay, and the hindrances."""
    stay: list[Token] = []
    hindrances: list[Hindrance] = []
    position = 0
    while position < len(found):
        token = found[position]
        hindrance = _hindrance(found, position, directory)
        length = 1
        if hindrance:
            hindrances.append(hindrance)
            name, _, value = _name(token.text)
            if (not value and name in _WITH_VALUE) or token.text in ("-T", "-fuse-ld"):
                length = 2
        if not hindrance or hindrance.kind == REFUSED:
            stay += found[position:position + length]
        position += length
    return stay, hindrances


def _name(text: str) -> tuple[str, str, str]:
    return text.lstrip("-").partition("=")


def _hindrance(found: Sequence[Token], position: int, directory: str) -> Hindrance | None:
    token = found[position]
    text = token.text
    following = found[position + 1].text if position + 1 < len(found) else ""
    if not text.startswith("-"):
        return None
    name, _, value = _name(text)
    if not token.of_linker:
        return _of_driver(text, value, following, directory)
    if name in _ORDERS:
        return Hindrance(text, DROPPED, "both decide the order of sections",
                         "take it out: a startup profile takes its place (frontload import reads "
                         "order files)")
    if name in _OWN:
        return Hindrance(text, REPLACED, "", "")
    if name in _SIDE_FILES or text == "-M":
        return Hindrance(text, DROPPED, "it writes a file that belongs to the build", "")
    if name in _STRIPPING:
        return _strip(text)
    if name in _FIXED and (text.startswith("--") or len(name) == 1):
        return Hindrance(text, REFUSED, _FIXED[name], "link without it")
    if name in _PLACES:
        return Hindrance(text, REFUSED, "it decides where sections lie in memory",
                         "link without it")
    if name in ("T", "script") or (text.startswith("-T") and len(text) > 2
                                   and not text.startswith("-T=")):
        script = value or (text[2:] if text.startswith("-T") and len(text) > 2 else following)
        return _script(script, directory)
    if text == "-z" and following == "nosectionheader":
        return Hindrance("-z nosectionheader", REFUSED, "the section headers tell where the front "
                                                        "is",
                         "link without it")
    return None


def _of_driver(text: str, value: str, following: str, directory: str) -> Hindrance | None:
    if text.startswith(("-fuse-ld=", "--ld-path=")):
        linker = os.path.basename(value)
        if linker in ("lld", "ld.lld") or linker.startswith(("ld.lld", "ld.frontload")):
            return Hindrance(text, REPLACED, "", "")
        return Hindrance(text, REPLACED, f"it asks for {linker}: ld.frontload is an lld",
                         "take it out, and link with ld.frontload")
    if text == "-s":
        return _strip(text)
    if text == "-T":
        return _script(following, directory)
    if text.startswith(("-MF", "-save-temps", "--save-temps")):
        return Hindrance(text, DROPPED, "it writes a file that belongs to the build", "")
    return None


def _strip(text: str) -> Hindrance:
    return Hindrance(text, DROPPED, STRIPS, STRIP_LAST)


def _script(script: str, directory: str) -> Hindrance | None:
    """A linker script hinders if it has SECTIONS, or cannot be read and may have them."""
    try:
        with open(os.path.join(directory, script), "rb") as file:
            if b"SECTIONS" not in file.read(1 << 20):
                return None
    except OSError:
        pass
    return Hindrance(f"-T {script}", REFUSED, "a linker script with SECTIONS decides the layout",
                     "link without the script, or with one that only has symbols and versions")
