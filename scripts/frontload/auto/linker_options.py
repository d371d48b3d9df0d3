"""Which of a link's options cannot be combined with a front, and what is done about each.

REPLACED  the choice of a linker or a profile: those of the trial take their place
DROPPED   orders sections itself, strips symbols that are recorded and checked, or writes other
          files, which belong to the build
REFUSED   decides the layout, and the program may need it: we cannot link without it
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass

REPLACED, DROPPED, REFUSED = "replaced", "dropped", "refused"
STRIPS = "it strips the names that are recorded and checked"
STRIP_LAST = "link without -s, and strip last: strip keeps the front"
_STRIPPING = DROPPED, STRIPS, STRIP_LAST
_ORDERING = (DROPPED, "both decide the order of sections",
             "take it out: a startup profile takes its place (frontload import reads order "
             "files)")
_OURS = REPLACED, "", ""
_WRITING = DROPPED, "it writes a file that belongs to the build", ""
_PLACING = REFUSED, "it decides where sections lie in memory", "link without it"
_ONE_SEGMENT = REFUSED, "it puts everything into one segment", "link without it"
# Options of the linker: whether their value may be the next argument, and what they do. lld's own
# orders, by call graph or balanced partitioning, apply outside the front.
_KNOWN = {
    **dict.fromkeys(("symbol-ordering-file", "section-ordering-file"), (True, _ORDERING)),
    "shuffle-sections": (False, _ORDERING),
    **dict.fromkeys(("startup-profile", "startup-profile-dir", "front-report", "min-match"),
                    (True, _OURS)),
    **dict.fromkeys(("front-prefetch", "front-always", "front-never"), (False, _OURS)),
    **dict.fromkeys(("Map", "dependency-file", "out-implib", "reproduce", "why-extract",
                     "print-symbol-order"), (True, _WRITING)),
    **dict.fromkeys(("time-trace", "cref", "print-map", "M", "thinlto-index-only"),
                    (False, _WRITING)),
    **dict.fromkeys(("section-start", "Ttext", "Tdata", "Tbss"), (True, _PLACING)),
    "Ttext-segment": (False, _PLACING),
    **dict.fromkeys(("s", "strip-all"), (False, _STRIPPING)),
    **dict.fromkeys(("N", "omagic"), (False, _ONE_SEGMENT)),
    "unique": (False, (REFUSED, "it puts every section into one of its own", "link without it")),
}
_SCRIPTS = "T", "script", "default-script"


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


def with_symbols(found: Sequence[Token], directory: str = ".") -> list[Token]:
    """The tokens without those that strip symbols or write other files of the build."""
    return separate(found, directory, (STRIPS, _WRITING[1]))[0]


def separate(found: Sequence[Token], directory: str = ".", reasons: Sequence[str] = ()
             ) -> tuple[list[Token], list[Hindrance]]:
    """The tokens that can stay, and the hindrances: all, or only those for one of `reasons`."""
    stay: list[Token] = []
    hindrances: list[Hindrance] = []
    position = 0
    while position < len(found):
        following = found[position + 1].text if position + 1 < len(found) else ""
        hindrance, length = _hindrance(found[position], following, directory)
        if hindrance and reasons and hindrance.why not in reasons:
            hindrance = None
        if hindrance:
            hindrances.append(hindrance)
        if not hindrance or hindrance.kind == REFUSED:
            stay += found[position:position + length]
        position += length
    return stay, hindrances


def _hindrance(token: Token, following: str, directory: str) -> tuple[Hindrance | None, int]:
    """The hindrance that begins with this token, and how many tokens belong to it."""
    text = token.text
    name, is_given, value = text.lstrip("-").partition("=")
    if not text.startswith("-") or text.startswith("-o"):
        return None, 1
    if text.startswith(("-fuse-ld=", "--ld-path=")) and not token.of_linker:
        linker = os.path.basename(value)
        if linker == "lld" or linker.startswith(("ld.lld", "ld.frontload")):
            return Hindrance(text, *_OURS), 1
        return Hindrance(text, REPLACED, f"it asks for {linker}: ld.frontload is an lld",
                         "take it out, and link with ld.frontload"), 1
    if name in _SCRIPTS and not is_given:
        return _script(following, directory), 2
    if token.of_linker and name in _KNOWN:
        takes_next, known = _KNOWN[name]
        return Hindrance(text, *known), 1 + (takes_next and not is_given)
    if token.of_linker and (name in _SCRIPTS or text.startswith("-T")):
        return _script(value or text[2:], directory), 1
    return Hindrance(text, *_STRIPPING) if text == "-s" else None, 1


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
