"""Linker scripts for GNU ld, which place startup code and data first in each output section.

The script is the linker's own default script, which `ld --verbose` prints, with patterns at the
start of .text, .rodata, .data.rel.ro, .data and .bss. The default script depends on the kind of
output and on some options (-z now, -z noseparate-code, -m), so these have to be known here. From
binutils 2.43 on, ld also takes the patterns alone, with --section-ordering-file, for any script.

**Patterns.** ld gives a section to the first pattern that matches it. `*(.text.foo)` is any
object's, `*libfoo.a:bar.o(.rodata)` one member's. The latter is for sections that have namesakes. A
file is never named without a wildcard, because ld would then link it, even if nothing else does.
One statement has one name: for `*(.a .b)` ld takes the sections in the order of its inputs.
--gc-sections drops sections in spite of a pattern. Characters with a meaning in scripts are put in
quotes, those with a meaning in globs are replaced by `?`; versions of ld differ on both in one
name.

**Strings and constants** that ld merges (.rodata.str1.1, .rodata.cst16) stay in the first section
that has them, which may be another object's. All of those sections together are small, so they
follow the front as one block, and not in thousands of places.
"""

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Sequence

from frontload.base.errors import EXIT_DATA, Failure
from frontload.elf import archive
from frontload.elf.section_names import OUTPUTS
from frontload.order import sections as order_sections
from frontload.order.request import Format, Order, Request
from frontload.order.sections import InputSection, Sections

# The linker's options for each kind of output; the names are those of compilers' options.
KINDS = {
    "pie": ["-pie"],
    "no-pie": [],
    "shared": ["-shared"],
    "static": ["-static"],
    "static-pie": ["-static", "-pie", "--no-dynamic-linker"],
}
_MERGED = re.compile(rb"\.rodata\.(str|cst)\d")
_GATHERED = (b"*(.rodata.cst*)", b"*(.rodata.str*)")
_PLAIN = re.compile(rb"[A-Za-z0-9_.$@+-]+")
_ODD = re.compile(rb"[^A-Za-z0-9_.$@+\x80-\xff-]")
_GLOB_OR_QUOTE = re.compile(rb"[*?\[\\\"\x00-\x1f]")
_NOT_ASCII = re.compile(rb"[\x80-\xff]+")
_RULE = re.compile(rb"^=+\n", re.MULTILINE)
_NO_GNU_LD = "give the path of GNU ld with --linker-path"
_TIMEOUT = 60


def bfd(path: str, kind: str, options: Sequence[str], *, is_ordering_file: bool) -> Format:
    """The format for the GNU ld at `path`, which links an output of this kind with these options:
    a script, or a file for --section-ordering-file."""
    return Format("-Wl,-T,FILE or, with --section-ordering-file, -Wl,--section-ordering-file=FILE",
                  lambda request: _make(request, path, [*KINDS[kind], *options], is_ordering_file))


def _make(request: Request, path: str, options: list[str], is_ordering_file: bool) -> Order:
    sections = order_sections.find(request)
    thin = {os.fsencode(os.path.basename(path)) for path in request.objects
            if archive.is_thin(path)}
    statements = {output: b"".join(_statements(section_class, sections, thin))
                  for section_class, output in OUTPUTS.items()}
    data = (_ordering_file(statements) if is_ordering_file
            else _insert(default_script(path, options), statements, path))
    return Order(data, *request.found_and_missing(), notes=order_sections.notes(sections))


def default_script(path: str, options: list[str]) -> bytes:
    """The default script of a GNU ld with some options."""
    found = shutil.which(path)
    if found is None:
        raise Failure(f"{path}: not found, or not executable", note=_NO_GNU_LD)
    try:
        result = subprocess.run([found, *options, "--verbose"], capture_output=True,
                                timeout=_TIMEOUT, env={**os.environ, "LC_ALL": "C"})
    except (OSError, subprocess.SubprocessError) as problem:
        raise Failure(f"{path}: cannot be run: {problem}", note=_NO_GNU_LD) from problem
    parts = _RULE.split(result.stdout)
    if result.returncode or len(parts) != 3 or b"internal linker script" not in parts[0]:
        said = result.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
        raise Failure(f"{path}: prints no default script with "
                      f"{shlex.join([*options, '--verbose'])}{said and ': ' + said}",
                      note=_NO_GNU_LD)
    version = parts[0].partition(b"\n")[0]
    return (b"/* The default script of %s, with what startup needs first,\n"
            b"   made by frontload order. */\n" % version.replace(b"*/", b"")) + parts[1]


def _statements(section_class: str, sections: Sections, thin: set[bytes]) -> Iterator[bytes]:
    """The patterns for an output section, each in a line of its own."""
    for prefixes, symbol in sections.guessed.get(section_class, ()):
        if _PLAIN.fullmatch(symbol):  # all prefixes are
            yield b"".join([b"\n    *(%b%b)" % (prefix, symbol) for prefix in prefixes])
        else:
            yield b"".join([b"\n    *(%b)" % _section_pattern(prefix + symbol)
                            for prefix in prefixes])
    for pattern in dict.fromkeys(
            pattern for section in sections.placed.get(section_class, ())
            if not _MERGED.match(section.name) for pattern in _patterns(section, thin)):
        yield b"\n    " + pattern
    if section_class == "rodata":
        yield from (b"\n    " + pattern for pattern in _GATHERED)


def _patterns(section: InputSection, thin_archives: set[bytes]) -> Iterator[bytes]:
    name = _section_pattern(section.name)
    if not section.object or section.is_unique:
        yield b"*(%s)" % name
        return
    if not section.object.endswith(b")"):
        # Not *NAME, which also matches subNAME. With brackets it is no name but a glob.
        first, rest = section.object[:1], _file_pattern(section.object[1:])
        yield b"*/%s(%s)" % (_file_pattern(section.object), name)
        yield b"%s%s(%s)" % (b"[%s]" % first if first.isalnum() else b"?", rest, name)
        return
    outer, _, member = section.object.rpartition(b"(")
    library, member = _file_pattern(outer), _file_pattern(member.removesuffix(b")"))
    yield b"*%s:%s(%s)" % (library, member, name)
    if outer in thin_archives:  # where a member's name is a path
        yield b"*%s:*/%s(%s)" % (library, member, name)


def _section_pattern(name: bytes) -> bytes:
    if _PLAIN.fullmatch(name):
        return name
    if not _GLOB_OR_QUOTE.search(name):
        return b'"%s"' % name
    return _ODD.sub(b"?", _NOT_ASCII.sub(b"?*", name))


def _file_pattern(name: bytes) -> bytes:
    """A glob without quotes. It may match other files: the section's name tells them apart."""
    return _NOT_ASCII.sub(b"*", _ODD.sub(b"?", name))


def _insert(script: bytes, statements: dict[bytes, bytes], path: str) -> bytes:
    insertions = []
    for output, inserted in statements.items():
        start = re.compile(rb"^[ \t]*%s[ \t]*:[ \t\n]*\{" % re.escape(output), re.MULTILINE)
        places = list(start.finditer(script))
        if len(places) != 1:
            raise Failure(f"{path}: its default script defines {output.decode()} {len(places)} "
                          "times, not once", code=EXIT_DATA,
                          note="with binutils 2.43 and newer, --section-ordering-file needs no "
                          "script")
        insertions.append((places[0].end(), inserted))
    parts, done = [], 0
    for end, inserted in sorted(insertions):
        parts += [script[done:end], inserted, b"\n"]
        done = end
    return b"".join([*parts, script[done:]])


def _ordering_file(statements: dict[bytes, bytes]) -> bytes:
    return b"".join(b"%s : {%s\n}\n" % (output, inserted)
                    for output, inserted in statements.items() if inserted)
