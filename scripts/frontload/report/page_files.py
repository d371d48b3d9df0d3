"""Which files of the variants are one row of the page.

Variants are compared file by file: libraries by path, and the programs of the variants' commands,
whose paths differ. Remaining files with different paths are compared by base name (a library of the
build in another folder).
"""

import os
from dataclasses import dataclass


@dataclass(frozen=True)
class ComparedFile:
    """One file as named by the page, and its index in each variant's files (None: not there)."""

    paths: tuple[str | None, ...]
    indexes: tuple[int | None, ...]
    size: int  # the largest
    is_program: bool

    @property
    def path(self) -> str:
        """Its path, or its paths if each variant has its own."""
        return " → ".join(dict.fromkeys(path for path in self.paths if path is not None))

    @property
    def label(self) -> str:
        """The same with base names only."""
        return " → ".join(dict.fromkeys(os.path.basename(path) or path for path in self.paths
                                        if path is not None))


def compare_files(variants: list[dict]) -> list[ComparedFile]:
    """The files of all variants, the program first, then by bytes read."""
    found: dict[tuple, list[int | None]] = {}
    for number, variant in enumerate(variants):
        for index, file in enumerate(variant["files"]):
            key = _key(variant, file["path"])
            if key in found and found[key][number] is not None:
                key = ("path", file["path"])
            found.setdefault(key, [None] * len(variants))[number] = index
    _join_namesakes(found)
    compared = []
    for key, indexes in found.items():
        files = [None if index is None else variant["files"][index]
                 for variant, index in zip(variants, indexes, strict=True)]
        read = max(file["read_bytes"] or 0 for file in files if file)
        compared.append((key[0] != "program", -read, key, ComparedFile(
            tuple(file["path"] if file else None for file in files), tuple(indexes),
            max(file["size"] for file in files if file), key[0] == "program")))
    return [entry[-1] for entry in sorted(compared, key=lambda entry: entry[:-1])]


def _key(variant: dict, path: str) -> tuple[str, str]:
    command = variant["command"]
    if command and os.path.basename(path) == os.path.basename(command[0]):
        return "program", ""
    return "path", path


def _join_namesakes(found: dict[tuple, list[int | None]]) -> None:
    """Joins files of different variants that have one base name, where only one choice is left."""
    by_name: dict[str, list[tuple]] = {}
    for key in sorted(found):
        if key[0] == "path" and None in found[key]:
            by_name.setdefault(os.path.basename(key[1]), []).append(key)
    for keys in by_name.values():
        filled = [sum(found[key][number] is not None for key in keys)
                  for number in range(len(found[keys[0]]))]
        if len(keys) > 1 and max(filled) == 1:
            for key in keys[1:]:
                for number, index in enumerate(found.pop(key)):
                    if index is not None:
                        found[keys[0]][number] = index
