"""Reads a Meson build folder: what Meson writes into meson-info for other tools."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from frontload.auto.build_folder import Compiler, Flags, Folder, Target, text_of
from frontload.base import documents
from frontload.base.documents import Part, Text
from frontload.base.errors import BadData

_KINDS = {"executable": "program", "shared library": "shared library",
          "shared module": "shared library"}
_FLAG_OPTIONS = ("c_args", "cpp_args", "c_link_args", "cpp_link_args", "b_lto", "strip", "b_pgo")
_EXECUTABLE = re.compile(r"^\s*(?:\w+\s*=\s*)?executable\s*\(\s*'([^']+)'", re.MULTILINE)
_LANGUAGES = {"c": "C", "cpp": "C++", "rust": "Rust"}


class _Directories(Part):
    source: Text | None = None


class _Version(Part):
    full: Text = ""


class _Info(Part):
    directories: _Directories = _Directories()
    meson_version: _Version = _Version()


class _Source(Part):
    language: Text | None = None
    compiler: list[Text] | None = None


class _Target(Part):
    name: Text
    type: Text
    filename: list[Text] | None = None
    defined_in: Text | None = None
    target_sources: list[_Source] | None = None


class _Option(Part):
    name: Text
    value: object = None


def read(folder: Folder) -> None:
    if not folder.build:
        path = Path(folder.source, "meson.build")
        folder.targets = [Target(match[1], "program", "", str(path))
                          for match in _EXECUTABLE.finditer(text_of(path))]
        return
    info = Path(folder.build, "meson-info")
    for known in _fitting([_json(info / "meson-info.json")], _Info):  # if it can be read
        folder.source = known.directories.source or folder.source
        folder.generator = f"Meson {known.meson_version.full}"
    for target in _fitting(_json(info / "intro-targets.json"), _Target):
        if target.type in _KINDS:
            folder.targets.append(Target(target.name, _KINDS[target.type],
                                         (target.filename or [""])[0], target.defined_in or ""))
        for part in target.target_sources or ():
            if part.language in _LANGUAGES and part.compiler:
                compiler = Compiler(_LANGUAGES[part.language], " ".join(part.compiler), "")
                if compiler not in folder.compilers:
                    folder.compilers.append(compiler)
    for option in _fitting(_json(info / "intro-buildoptions.json"), _Option):
        value = option.value
        if option.name in _FLAG_OPTIONS and value not in ([], False, "", "off"):
            text = " ".join(map(str, value)) if isinstance(value, list) else str(value)
            folder.flags.append(Flags(f"the option {option.name}", text))


def _json(path: Path) -> object:
    try:
        return json.loads(text_of(path))
    except ValueError:
        return None


def _fitting(values: object, model: type[documents.Model]) -> Iterator[documents.Model]:
    """The readable parts of a list; a newer Meson may write some in other forms."""
    for value in values if isinstance(values, list) else ():
        with suppress(BadData):
            yield documents.checked(model, value, "")
