"""Reads a CMake build folder: its cache, the compilers that were found, and the targets.

Targets come from CMake's File API: its answers are in .cmake/api/v1/reply if an editor or
`frontload init --ask-cmake` has asked. Without answers, targets are the programs that the
CMakeLists.txt files name literally.
"""

import os
import re
import shutil
from pathlib import Path

from frontload.auto.build_folder import Compiler, Flags, Folder, Target, text_of
from frontload.base import documents, files, processes
from frontload.base.documents import Number, Part, Text
from frontload.base.errors import BadData, Failure

_ENTRY = re.compile(r"^([^#/\n:][^:\n]*):[A-Z]+=(.*)$", re.MULTILINE)
_COMPILER_SETTING = re.compile(r'^set\(CMAKE_(\w+?)_COMPILER(_ID|_VERSION|)? "([^"]*)"\)',
                               re.MULTILINE)
_FLAG_ENTRIES = re.compile(r"CMAKE_(?:C|CXX|EXE_LINKER|SHARED_LINKER)_FLAGS(?:_(?P<type>\w+))?"
                           r"|CMAKE_LINKER_TYPE|CMAKE_INTERPROCEDURAL_OPTIMIZATION"
                           r"|CMAKE_(?:C|CXX)_COMPILER_LAUNCHER|CMAKE_(?:C|CXX)_LINKER_LAUNCHER")
_PROGRAM = re.compile(r"^([ \t]*)add_executable\s*\(\s*([\w.+-]+)(?=[\s)])([^)]*)",
                      re.MULTILINE | re.IGNORECASE)
_NOT_BUILT = re.compile(r"^\s*(IMPORTED|ALIAS)\b")
_LANGUAGES = {"CXX": "C++", "C": "C"}
_KINDS = {"EXECUTABLE": "program", "SHARED_LIBRARY": "shared library",
          "MODULE_LIBRARY": "shared library"}
_QUERY = ".cmake/api/v1/query/client-frontload/codemodel-v2"
_MAX_LISTS = 2000


# The used parts of the answers, in CMake's words (cmake-file-api(7)).
class _Reference(Part):
    jsonFile: Text


class _Object(_Reference):
    kind: Text


class _Index(Part):
    objects: list[_Object]


class _Configuration(Part):
    targets: list[_Reference]


class _Model(Part):
    configurations: list[_Configuration]


class _Artifact(Part):
    path: Text


class _Node(Part):
    file: Number | None = None
    line: Number | None = None


class _Graph(Part):
    nodes: list[_Node]
    files: list[Text]


class _Target(Part):
    name: Text
    type: Text
    artifacts: list[_Artifact] | None = None
    backtrace: Number | None = None
    backtraceGraph: _Graph | None = None


def cache(build: str) -> dict[str, str]:
    return dict(_ENTRY.findall(text_of(Path(build, "CMakeCache.txt"))))


def read(folder: Folder) -> None:
    if folder.build:
        entries = cache(folder.build)
        folder.source = entries.get("CMAKE_HOME_DIRECTORY", folder.source)
        folder.generator = entries.get("CMAKE_GENERATOR", "")
        folder.compilers = _compilers(folder.build, entries)
        built = entries.get("CMAKE_BUILD_TYPE", "").upper()
        where = os.path.join(folder.build, "CMakeCache.txt")
        folder.flags = [Flags(f"{name} in {where}", value)
                        for name, value in sorted(entries.items())
                        if value and (match := _FLAG_ENTRIES.fullmatch(name))
                        and match["type"] in (None, built)]
        folder.targets = _from_file_api(Path(folder.build), folder.source)
    if not folder.targets and folder.source:
        folder.targets = _from_lists(Path(folder.source))


def _compilers(build: str, entries: dict[str, str]) -> list[Compiler]:
    found = {}
    for path in sorted(Path(build).glob("CMakeFiles/*/CMake*Compiler.cmake")):
        settings = {(language, what): value for language, what, value
                    in _COMPILER_SETTING.findall(text_of(path))}
        for language in {language for language, _ in settings} & _LANGUAGES.keys():
            program, name, version = (settings.get((language, what), "")
                                      for what in ("", "_ID", "_VERSION"))
            found[language] = Compiler(_LANGUAGES[language], program, f"{name} {version}".strip())
    return [found[language] for language in sorted(found)]


def _from_file_api(build: Path, source: str) -> list[Target]:
    """The targets in CMake's answer; none if it is missing or unreadable."""
    reply = build / ".cmake/api/v1/reply"
    indexes = sorted(reply.glob("index-*.json"))
    try:
        index = _answer(indexes[-1], _Index)
        model = next(each for each in index.objects if each.kind == "codemodel")
        configuration = _answer(reply / model.jsonFile, _Model).configurations[0]
        targets = [_answer(reply / each.jsonFile, _Target) for each in configuration.targets]
        return [_target(each, build, source) for each in targets if each.type in _KINDS]
    except (BadData, LookupError, StopIteration):
        return []


def _answer(path: Path, model: type[documents.Model]) -> documents.Model:
    return documents.checked(model, files.parse_json(text_of(path), path), path)


def _target(each: _Target, build: Path, source: str) -> Target:
    output = str(build / each.artifacts[0].path) if each.artifacts else ""
    file, line = "", 0
    if each.backtrace is not None and each.backtraceGraph is not None:
        node = each.backtraceGraph.nodes[each.backtrace]
        line = node.line or 0
        if node.file is not None:
            file = os.path.join(source, each.backtraceGraph.files[node.file])
    return Target(each.name, _KINDS[each.type], output, file, line)


def _from_lists(source: Path) -> list[Target]:
    """The programs that CMakeLists.txt files name."""
    found = []
    for number, path in enumerate(_lists(source)):
        if number == _MAX_LISTS:
            break
        text = text_of(path)
        found += [Target(match[2], "program", "", str(path), text.count("\n", 0, match.start()) + 1)
                  for match in _PROGRAM.finditer(text) if not _NOT_BUILT.match(match[3])]
    return found


def _lists(source: Path):
    for inside, folders, names in os.walk(source):
        if "CMakeCache.txt" in names and Path(inside) != source:
            folders.clear()
            continue
        folders[:] = sorted(name for name in folders if not name.startswith(".")
                            and name != "CMakeFiles")
        if "CMakeLists.txt" in names:
            yield Path(inside, "CMakeLists.txt")


def ask(folder: Folder) -> None:
    """Makes CMake write its targets: leaves a query in the build folder, as editors do, and
    configures the folder again."""
    cmake = cache(folder.build).get("CMAKE_COMMAND") or shutil.which("cmake")
    if not cmake:
        raise Failure("cmake: not found", note="put it in PATH")
    query = Path(folder.build, _QUERY)
    query.parent.mkdir(parents=True, exist_ok=True)
    query.touch()
    result = processes.run([cmake, folder.build], shown=True)
    if result.status:
        raise Failure(f"{cmake}: exited with status {result.status}",
                      note="configure the build folder, or leave out --ask-cmake")
    read(folder)
