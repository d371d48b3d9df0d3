"""Reads a Meson build folder: what Meson writes for others into meson-info."""

import json
import re
from pathlib import Path

from frontload.auto.build_folder import Compiler, Flags, Folder, Target, text_of

_KINDS = {"executable": "program", "shared library": "shared library",
          "shared module": "shared library"}
_FLAG_OPTIONS = ("c_args", "cpp_args", "c_link_args", "cpp_link_args", "b_lto", "strip", "b_pgo")
_EXECUTABLE = re.compile(r"^\s*(?:\w+\s*=\s*)?executable\s*\(\s*'([^']+)'", re.MULTILINE)
_LANGUAGES = {"c": "C", "cpp": "C++", "rust": "Rust"}


def read(folder: Folder) -> None:
    if not folder.build:
        path = Path(folder.source, "meson.build")
        folder.targets = [Target(match[1], "program", "", str(path))
                          for match in _EXECUTABLE.finditer(text_of(path))]
        return
    info = Path(folder.build, "meson-info")
    known = _json(info / "meson-info.json")
    if isinstance(known, dict):
        folder.source = (known.get("directories") or {}).get("source", folder.source)
        folder.generator = "Meson " + str((known.get("meson_version") or {}).get("full", ""))
    for each in _list(info / "intro-targets.json"):
        if each.get("type") in _KINDS:
            names = each.get("filename") or [""]
            folder.targets.append(Target(str(each.get("name")), _KINDS[each["type"]], str(names[0]),
                                         str(each.get("defined_in") or "")))
        for part in each.get("target_sources", []):
            language, command = part.get("language"), part.get("compiler")
            if language in _LANGUAGES and command:
                compiler = Compiler(_LANGUAGES[language], " ".join(command), "")
                if compiler not in folder.compilers:
                    folder.compilers.append(compiler)
    for each in _list(info / "intro-buildoptions.json"):
        value = each.get("value")
        if each.get("name") in _FLAG_OPTIONS and value not in ([], False, "", "off"):
            text = " ".join(map(str, value)) if isinstance(value, list) else str(value)
            folder.flags.append(Flags(f"the option {each['name']}", text))


def _json(path: Path) -> object:
    try:
        return json.loads(text_of(path))
    except ValueError:
        return None


def _list(path: Path) -> list[dict]:
    found = _json(path)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


