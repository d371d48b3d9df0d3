"""Reads folders that make builds: the variables of a Makefile, by Autotools or by hand."""

import os
import re
import shlex
from contextlib import suppress
from pathlib import Path

from frontload.auto.build_folder import Compiler, Flags, Folder, text_of

_VARIABLE = re.compile(r"^(CC|CXX|CFLAGS|CXXFLAGS|LDFLAGS|srcdir|abs_srcdir)[ \t]*[:?]?="
                       r"[ \t]*(.*)$", re.MULTILINE)
# The arguments of configure, quoted for a shell, then quoted again as one word.
_CONFIGURED = re.compile(r"^ac_cs_config=(.*)$", re.MULTILINE)
# The target clean, with its recipe. nginx's also removes the Makefile.
_CLEAN = re.compile(r"^(?:[\w-]+[ \t]+)*clean\b[^:=\n]*:(?!=).*\n((?:\t.*\n)*)", re.MULTILINE)
_REMOVES_ITSELF = re.compile(r"\brm\b.*\bMakefile\b")
_FLAGS = ("CFLAGS", "CXXFLAGS", "LDFLAGS")
_LANGUAGES = {"CC": "C", "CXX": "C++"}


def read_autotools(folder: Folder) -> None:
    if not folder.build:
        return
    makefile = Path(folder.build, "Makefile")
    found = dict(_VARIABLE.findall(text_of(makefile)))
    source = found.get("abs_srcdir") or found.get("srcdir")
    if source:
        folder.source = os.path.normpath(os.path.join(folder.build, source))
    _take_variables(folder, found, makefile)
    if match := _CONFIGURED.search(text_of(Path(folder.build, "config.status"))):
        with suppress(ValueError):  # not as Autoconf writes it
            folder.configured = shlex.join(shlex.split("".join(shlex.split(match[1]))))
    if os.path.exists(os.path.join(folder.build, "libtool")):
        folder.notes.append("it links with libtool: a program that uses a library of this build is "
                            "a script, and the real program is in .libs; configure with "
                            "--disable-shared to get one that can be recorded directly")


def read_makefile(folder: Folder) -> None:
    for name in ("GNUmakefile", "makefile", "Makefile"):
        path = Path(folder.path, name)
        if path.is_file():
            text = text_of(path)
            clean = _CLEAN.search(text)
            folder.has_clean = clean is not None and not _REMOVES_ITSELF.search(clean[1])
            _take_variables(folder, dict(_VARIABLE.findall(text)), path)
            return


def _take_variables(folder: Folder, found: dict[str, str], where: Path) -> None:
    for name, language in _LANGUAGES.items():
        if found.get(name, "").strip():
            folder.compilers.append(Compiler(language, found[name].strip(), ""))
    folder.flags += [Flags(f"{name} in {where}", found[name].strip()) for name in _FLAGS
                     if found.get(name, "").strip()]
