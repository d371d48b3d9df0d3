"""How compilers name input sections, and where linkers put them.

With -ffunction-sections and -fdata-sections a name is a stem, perhaps words, and the symbol:

    .text.unlikely.f       the stem .text, the word unlikely, the symbol f
    .data.rel.ro.local.t   the stem .data.rel.ro, the word local, the symbol t

Without them it is the stem and the words. A symbol can begin with the same words.
"""

import re

# The class of each stem.
STEMS = {
    b".text": "text", b".stub": "text", b".gnu.linkonce.t": "text",
    b".rodata": "rodata", b".gnu.linkonce.r": "rodata",
    b".data.rel.ro": "relro", b".gnu.linkonce.d.rel.ro": "relro",
    b".data": "data", b".data.rel": "data", b".gnu.linkonce.d": "data",
    b".bss": "bss", b".gnu.linkonce.b": "bss",
}
# Stems with output sections of their own: those of the large code model, and others.
OTHER_STEMS = {b".ltext": "text", b".lrodata": "rodata", b".bss.rel.ro": "relro",
               b".ldata": "data", b".lbss": "bss"}
# The output section of each class.
OUTPUTS = {"text": b".text", "rodata": b".rodata", "relro": b".data.rel.ro", "data": b".data",
           "bss": b".bss"}
CLASSES = tuple(OUTPUTS)
# What compilers put before a symbol, the usual prefix first.
PREFIXES = {
    "text": (b".text.", b".text.startup.", b".text.hot.", b".text.unlikely."),
    "rodata": (b".rodata.",),
    "relro": (b".data.rel.ro.", b".data.rel.ro.local."),
    "data": (b".data.", b".data.rel.", b".data.rel.local."),
    "bss": (b".bss.",),
}
TEXT_WORDS = (b"hot", b"unlikely", b"startup", b"exit", b"unknown", b"split")
DATA_WORDS = (b"local",)
NO_SECTION = "(no section)"  # headers, padding, and all of a file that is not ELF

_ALL_STEMS = STEMS | OTHER_STEMS


def _any_of(stems: dict[bytes, str]) -> bytes:
    return b"|".join(re.escape(stem) for stem in sorted(stems, key=len, reverse=True))


_OF_OUTPUT = re.compile(rb"(%s)(?:\.|$)" % _any_of(STEMS), re.DOTALL)
_BEFORE_SYMBOL = re.compile(rb"(%s)\." % _any_of(_ALL_STEMS))


def output_class(name: bytes) -> str | None:
    """The class whose output section gets an input section; None for other output sections."""
    match = _OF_OUTPUT.match(name)
    return STEMS[match[1]] if match else None


def split(name: bytes) -> tuple[str, bytes] | None:
    """The class of a section, and the rest behind its stem: words, a symbol, or both; None without
    a stem or a rest."""
    match = _BEFORE_SYMBOL.match(name)
    return (_ALL_STEMS[match[1]], name[match.end():]) if match else None


def words_of(section_class: str) -> tuple[bytes, ...]:
    return TEXT_WORDS if section_class == "text" else DATA_WORDS


def split_word(section_class: str, rest: bytes) -> tuple[bytes, bytes]:
    """The word that a stem's rest begins with, or nothing, and the rest behind it."""
    word, dot, symbol = rest.partition(b".")
    return (word, symbol) if dot and word in words_of(section_class) else (b"", rest)


def shared_class(name: bytes) -> str | None:
    """The class of a section that is not named after a symbol, and so may hold many."""
    if name in _ALL_STEMS:
        return _ALL_STEMS[name]
    found = split(name)
    return found[0] if found and found[1] in words_of(found[0]) else None
