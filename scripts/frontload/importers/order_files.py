"""Order files of linkers, written by hand or by other tools.

    lld       --symbol-ordering-file: a symbol a line, of a function or a datum. White space at the
              ends, empty lines and lines that start with # mean nothing.
    gold      --section-ordering-file: an input section a line, or a pattern for several.

With -ffunction-sections and -fdata-sections the name of a section is a prefix and the symbol.
Compilers put words into the prefix, but a symbol can begin with the same words, and
`.text.unlikely.f` can be f or its cold part, f.cold: the program's symbols decide between such
readings. `.text.startup` is a shared section: it names a function only if the program has one of
that name.
"""

import re
from collections.abc import Callable, Iterator

from frontload.base import files
from frontload.base.errors import BadData
from frontload.elf.section_names import DATA_WORDS, TEXT_WORDS, split, split_word
from frontload.importers.interface import Importer, Mention, NamedRun, Source
from frontload.importers.text_lines import lines

_SPLIT = (b"unlikely", b"split")
# Words without a symbol behind them, which are symbols in programs that have them.
_ALONE = {*DATA_WORDS, b"rel", b"ro", b"rel.ro"}
# Strings and numbers that linkers merge, and names that only the assembler has.
_NO_SYMBOL = re.compile(rb"(?:.*\.)?(?:str|cst)[0-9]+(?:\.[0-9]+)?|\.L.*", re.DOTALL)
_PATTERN = re.compile(rb"[*?\[]")
_REST = {b".text", b".text.*", b".text*", b"*"}
_WHITE_SPACE = b" \t\n\v\f\r"  # stripped by lld
_WORD = re.compile(rb"[^\s*?\[\]\x00-\x1f\x7f]+")


def _names(source: Source, importer: Importer) -> Iterator[tuple[int, bytes]]:
    """The lines that mean something."""
    with files.open_input(source.path, importer.note) as stream:
        for number, line in lines(stream, source.path, importer.note, all_end=False):
            line = line.strip(_WHITE_SPACE)
            if line and not line.startswith(b"#"):
                yield number, line


def _read_symbols(source: Source) -> Iterator[NamedRun]:
    run = NamedRun()
    spaced, first = 0, 0
    for number, name in _names(source, LLD):
        if b" " in name or b"\t" in name:
            spaced, first = spaced + 1, first or number
        run.mentions[Mention(name)] = None
    # Zig's symbols have spaces, and so have prose and demangled names: only the program can decide.
    if 2 * spaced > len(run.mentions) and not source.has_binary:
        raise BadData(source.path, "not a list of symbols: they have spaces", line=first,
                      note="give symbols as the linker sees them, such as _ZN3foo3barEv; or, if "
                      "these are symbols, as Zig makes them, the program with --binary")
    yield run


def _read_sections(source: Source) -> Iterator[NamedRun]:
    run = NamedRun()
    for _, line in _names(source, GOLD):
        if mention := _section(source, line):
            run.mentions[mention] = None
    yield run


def _section(source: Source, line: bytes) -> Mention | None:
    is_pattern = _PATTERN.search(line) is not None
    mention = section_mention(line)
    if mention and is_pattern:  # or the section of a symbol with brackets, as Zig makes them
        mention = mention._replace(is_doubtful=True)
    if mention and mention.is_doubtful and not source.has_binary:
        mention = None
    if mention is None:
        source.left_out.add("a pattern in place of a section's name" if is_pattern
                            else "a section whose name holds no symbol", line)
    return mention


def section_mention(section: bytes) -> Mention | None:
    """The symbol in the name of a section."""
    found = split(section)
    if not found:
        return None
    section_class, whole = found
    if not whole or _NO_SYMBOL.fullmatch(whole):
        return None
    word, name = split_word(section_class, whole)
    if not word:
        alone = TEXT_WORDS if section_class == "text" else _ALONE
        return Mention(whole, section_class, is_doubtful=whole in alone)
    if not name or _NO_SYMBOL.fullmatch(name):  # .text.hot., as clang writes it
        return None
    cold = [name + b".cold"] if word in _SPLIT else []
    return Mention(name, section_class,
                   readings=tuple((section_class, each) for each in (*cold, name, whole)))


def _is_list(head: bytes, fits: Callable[[bytes], object]) -> bool:
    """Whether all lines that mean something fit."""
    found = [line for each in head.splitlines()
             if (line := each.strip(_WHITE_SPACE)) and not line.startswith(b"#")]
    return bool(found) and all(map(fits, found))


def _is_symbol(line: bytes) -> bool:
    return bool(_WORD.fullmatch(line)) and not line.isdigit() and not _is_section(line)


def _is_section(line: bytes) -> bool:
    return line in _REST or bool(split(line))


LLD = Importer("lld", "ld.lld --call-graph-profile-sort=hfsort --print-symbol-order=FILE, or by "
               "hand: one symbol a line", lambda head: _is_list(head, _is_symbol), _read_symbols)
GOLD = Importer("gold", "a tool of yours: one section a line, such as .text._ZN3foo3barEv",
                lambda head: _is_list(head, _is_section), _read_sections)
