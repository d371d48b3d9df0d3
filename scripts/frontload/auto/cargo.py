"""Cargo packages: their programs, and builds of one program with arguments for its linker.

`cargo rustc` gives arguments only to the last crate of a build, so dependencies, build scripts and
procedural macros are compiled as usual, and only once. Newer cargos make the arguments part of the
hashes in names. So the arguments are always the same: the name of a file with the arguments for the
linker. Cargo does not track that file, so we make cargo link again if the file has changed.
"""

import filecmp
import functools
import hashlib
import json
import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from frontload.base import documents, files, tools
from frontload.base.documents import Part, Text
from frontload.base.errors import Failure

_INSTALL = "install Rust's cargo, and put it in PATH"


class _Target(Part):
    name: Text
    kind: list[Text]


class _Package(Part):
    name: Text
    manifest_path: Text
    targets: list[_Target]
    default_run: Text | None = None


class _Metadata(Part):
    """The output of `cargo metadata`."""

    packages: list[_Package]
    target_directory: Text


@dataclass(frozen=True)
class Program:
    """One program of a package, and the folder for its files between two commands."""

    name: str
    manifest: Path
    work: Path
    toolchain: str = ""  # rustup's name; empty: the toolchain chosen otherwise

    @property
    def profile(self) -> Path:
        """The path of its startup profile, in the source tree."""
        return self.manifest.parent / "startup" / f"{self.name}.startup"


def _cargo(toolchain: str) -> list[str]:
    if toolchain:  # only rustup's cargo takes it; another cargo reports an error
        return [str(tools.program("cargo", _INSTALL)), f"+{toolchain}"]
    # Cargo sets $CARGO for its subcommands: the cargo of the requested toolchain.
    return [os.environ.get("CARGO") or str(tools.program("cargo", _INSTALL))]


def _run(toolchain: str, arguments: Sequence[str], **environment: str) -> bytes:
    """The standard output of cargo. Cargo reports its own errors; its exit status becomes ours."""
    command = [*_cargo(toolchain), *arguments]
    try:
        result = subprocess.run(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
                                env={**os.environ, **environment})
    except OSError as problem:
        raise Failure(f"{command[0]}: {problem.strerror}", note=_INSTALL) from problem
    if result.returncode:
        raise Failure(f"cargo {arguments[0]}: exit status {result.returncode}",
                      note="cargo says above what is wrong",
                      code=result.returncode if result.returncode > 0 else 128 - result.returncode)
    return result.stdout


def find_program(manifest: str | None, package: str | None, name: str | None, kind: str,
                 offline: Sequence[str], toolchain: str = "") -> Program:
    """The program of a command: by its name if there are several. Each `kind` of build keeps its
    own files."""
    def run(*arguments: str) -> bytes:
        return _run(toolchain, arguments)

    where = [f"--manifest-path={manifest}"] if manifest else []
    located = os.fsdecode(run("locate-project", "--message-format=plain", *where)).strip()
    metadata = documents.checked(
        _Metadata, files.parse_json(run("metadata", "--no-deps", "--format-version=1", *where,
                                        *offline), "cargo metadata"), "cargo metadata")
    packages = metadata.packages
    if package:
        packages = [p for p in packages if p.name == package]
    elif any(p.manifest_path == located for p in packages):
        packages = [p for p in packages if p.manifest_path == located]
    found = [(target.name, p) for p in packages for target in p.targets if "bin" in target.kind]
    if name:
        found = [entry for entry in found if entry[0] == name]
    elif len(found) > 1:
        found = [entry for entry in found if entry[0] == entry[1].default_run] or found
    if not found:
        raise Failure(f"{located}: has no program{f' {name}' if name else ''}",
                      note="name its package with -p, or another program with --bin")
    if len(found) > 1:
        names = ", ".join(sorted(entry[0] for entry in found))
        raise Failure(f"{located}: has several programs: {names}", note="choose one with --bin")
    name, entry = found[0]
    work = Path(metadata.target_directory) / "frontload" / kind / name
    return Program(name, Path(entry.manifest_path), work, toolchain)


@functools.cache
def _own_linker(toolchain: str) -> tuple[str, ...]:
    """Arguments that keep newer compilers from using their own lld, which gcc would find first."""
    option = "-Clinker-features=-lld"
    compiler = "rustc" if toolchain else os.environ.get("RUSTC", "rustc")
    chosen = [f"+{toolchain}"] if toolchain else []
    try:
        probe = subprocess.run([compiler, *chosen, option, "--print=sysroot"], capture_output=True)
    except OSError as problem:
        raise Failure(f"{compiler}: {problem.strerror}", note=_INSTALL) from problem
    return () if probe.returncode else (option,)


def link(program: Program, options: Sequence[str], words: Sequence[str],
         **environment: str) -> Path:
    """Builds a program with ld.frontload, which gets `words`; returns the program's file."""
    linkers = tools.tool("ld.frontload").resolve().parent.parent / "lib" / "frontload" / "gcc"
    driver = [f"-B{linkers}", "-fuse-ld=lld", *(f"-Wl,{word}" for word in words)]
    arguments = program.work / "link-arguments"
    # In such a file, gcc and clang read quoted text as one argument.
    text = "".join(f'"{word}"\n' for word in (re.sub(r'(["\\])', r"\\\1", w) for w in driver))
    program.work.mkdir(parents=True, exist_ok=True)
    files.write_if_changed(arguments, os.fsencode(text))
    compiler = [*_own_linker(program.toolchain), f"-Clink-arg=@{arguments}"]
    built = build(program, options, compiler, **environment)
    linked = program.work / f"linked-{hashlib.sha256(os.fsencode(built.path)).hexdigest()[:16]}"
    if built.fresh and not (linked.exists() and linked.read_bytes() == os.fsencode(text)):
        # Cargo keeps the program in its own folder, and a hard link or a copy where we see it.
        for kept in built.path.parent.glob("deps/*"):
            if kept.samefile(built.path) or _is_copy(kept, built.path):
                kept.unlink()
        built = build(program, options, compiler, **environment)
    files.write_if_changed(linked, os.fsencode(text))
    return built.path


def _is_copy(kept: Path, shown: Path) -> bool:
    return bool(re.fullmatch(re.escape(shown.name).replace("\\-", "[-_]") + "-[0-9a-f]{16}",
                             kept.name)) and filecmp.cmp(kept, shown)


@dataclass(frozen=True)
class Built:
    """The file of a program, and whether cargo found it already built."""

    path: Path
    fresh: bool


def build(program: Program, options: Sequence[str], compiler_arguments: Sequence[str] = (),
          **environment: str) -> Built:
    """Builds a program, with arguments for the compiler of its last crate."""
    output = _run(program.toolchain,
                  ["rustc", f"--manifest-path={program.manifest}", f"--bin={program.name}",
                   "--message-format=json-render-diagnostics", *options, "--",
                   *compiler_arguments], **environment)
    for line in output.splitlines():
        # The output can include that of a build script or macro.
        try:
            message = json.loads(line)
        except ValueError:
            continue
        if (isinstance(message, dict) and message.get("reason") == "compiler-artifact"
                and message["target"]["name"] == program.name
                and "bin" in message["target"]["kind"] and message.get("executable")):
            return Built(Path(message["executable"]), message["fresh"])
    raise Failure(f"cargo rustc: built no program {program.name}",
                  note="--bin NAME chooses a program, --package NAME its package")
