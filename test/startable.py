"""Programs of the tests and examples, compiled and linked in one of many ways without a front: what
they do then is what they have to do with any front."""

import functools
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from compiled import compiled
from linking import COMPILERS, LD_LLD, PROGRAMS, SECTION_FLAGS
from places import ROOT

sys.path.insert(0, str(ROOT / "test" / "matrix"))
import programs as matrix

_HERE = ROOT / "test" / "random_fronts" / "programs"
_CXX = (".cpp", ".cc")


@dataclass(frozen=True)
class Source:
    """The files of a program, and of a library that it is linked with."""

    name: str
    files: tuple[Path, ...]
    library: tuple[Path, ...] = ()
    version_script: Path | None = None
    headers: tuple[Path, ...] = ()
    arguments: tuple[str, ...] = ()
    needs: tuple[str, ...] = ("-pthread",)
    include_folder: str = ""  # that the headers are in, as they are included

    @property
    def is_cxx(self) -> bool:
        return any(path.suffix in _CXX for path in self.files + self.library)


def _ours(name: str, folder: Path = _HERE) -> Source:
    """A program of a folder, by the names of its files."""
    def some(pattern: str) -> tuple[Path, ...]:
        return tuple(sorted(folder.glob(pattern)))

    files = some(f"{name}.c*") + some(f"{name}_part.c*") + some(f"{name}_table.c")
    return Source(name, files, some(f"{name}_library.c*"),
                  next(iter(some(f"{name}_library.map")), None), some("*.h"))


def _example(name: str, *files: str, library: tuple[str, ...] = (), headers: tuple[str, ...] = (),
             **more) -> Source:
    def paths(names) -> tuple[Path, ...]:
        return tuple(ROOT / "examples" / each for each in names)

    return Source(f"{name} example", paths(files), paths(library), headers=paths(headers),
                  needs=("-lm",), **more)


def _all_sources() -> Iterator[Source]:
    for name in ("plain", "exceptions", "tls", "ifunc", "constructors", "threads", "start_stop",
                 "edges", "strings", "whole"):
        yield _ours(name, PROGRAMS)
    shop = matrix.SOURCES / "shop"
    yield Source("shop", tuple(sorted(shop.glob("*.cpp"))), headers=(shop / "shop.h",),
                 arguments=("--all",))
    yield Source("library", (PROGRAMS / "library_user.cpp",), (PROGRAMS / "library.cpp",))
    for name in ("callbacks", "tls_models", "copies", "comdat", "alike", "order", "tables",
                 "versions", "ifuncs", "models"):
        yield _ours(name)
    yield _example("make", "make/greeter.c", "make/rest.c")
    yield _example("cmake", "cmake/main.cpp", "cmake/greet.cpp", "cmake/rest.cpp",
                   arguments=("--rest", "all"))
    yield _example("autotools", "autotools/greeter.c", "autotools/rest.c",
                   library=("autotools/words.c",))
    yield _example("meson", "meson/src/main.c", "meson/src/evaluate.c", "meson/src/functions.c",
                   headers=("meson/src/abacus.h",), arguments=("1 + 2 * 3",))
    yield _example("bazel", "bazel/src/main.cc", "bazel/src/numerals.cc",
                   headers=("bazel/src/numerals.h",), arguments=("12",), include_folder="src/")


SOURCES = {source.name: source for source in _all_sources()}


@dataclass(frozen=True)
class Way:
    """A way to compile and link."""

    compile_flags: tuple[str, ...]
    link_flags: tuple[str, ...]
    compiler: str = "gcc"
    is_library: bool = False  # main, too, is in a shared library
    not_for: tuple[str, ...] = ()


_STATIC_NOT = ("callbacks", "tls_models", "copies", "versions", "ifuncs", "library",
               "autotools example")  # their library is shared
_PIE, _NO_PIE = ("-fPIE",), ("-fno-pie",)
WAYS = {
    "pie": Way(_PIE, ("-pie",)),
    "no-pie": Way(_NO_PIE, ("-no-pie",), "clang"),
    # Their symbols would be of the library, where they mean something else.
    "shared": Way(("-fPIC",), (), is_library=True, not_for=("edges", "copies")),
    "static": Way(_NO_PIE, ("-static",), not_for=_STATIC_NOT),
    "static-pie": Way(_PIE, ("-static-pie",), "clang", not_for=_STATIC_NOT),
    "LTO": Way((*_PIE, "-flto"), ("-pie", "-flto"), "clang", not_for=("order", "versions")),
    "ThinLTO": Way((*_PIE, "-flto=thin"), ("-pie", "-flto=thin"), "clang",
                   not_for=("order", "versions")),
    "whole sections": Way((*_PIE, "-fno-function-sections", "-fno-data-sections"), ("-pie",)),
    "blocks": Way((*_PIE, "-fbasic-block-sections=all", "-funique-basic-block-section-names"),
                  ("-pie",), "clang", not_for=("exceptions", "callbacks", "shop")),
    "medium": Way((*_PIE, "-mcmodel=medium"), ("-pie",)),
    "large": Way((*_NO_PIE, "-mcmodel=large"), ("-no-pie",), not_for=("tls", "tls_models")),
    "O0": Way((*_PIE, "-O0"), ("-pie",), "clang"),
    "unoptimized": Way((*_NO_PIE, "-O0"), ("-no-pie",)),
    "for speed": Way((*_PIE, "-O3", "-march=x86-64-v2"), ("-pie",)),
    "patchable": Way((*_PIE, "-fpatchable-function-entry=2,1"), ("-pie",), "clang"),
    "CET": Way((*_PIE, "-fcf-protection=full"), ("-pie", "-Wl,-z,force-ibt", "-Wl,-z,shstk")),
    "addrsig": Way((*_PIE, "-faddrsig"), ("-pie", "-Wl,--icf=safe"), "clang"),
    "debug": Way((*_PIE, "-g"), ("-pie",)),
    "global-dynamic": Way((*_PIE, "-ftls-model=global-dynamic"), ("-pie",)),
    "local-dynamic": Way((*_PIE, "-ftls-model=local-dynamic"), ("-pie",), "clang"),
    "initial-exec": Way((*_PIE, "-ftls-model=initial-exec"), ("-pie",)),
    "local-exec": Way((*_PIE, "-ftls-model=local-exec", "-DLOCAL_EXEC"), ("-pie",), "clang",
                      not_for=("tls_models",)),
    "TLSDESC": Way(("-fPIC", "-mtls-dialect=gnu2"), (), is_library=True,
                   not_for=("edges", "copies")),
}
OF_TLS = ("global-dynamic", "local-dynamic", "initial-exec", "local-exec", "TLSDESC")


def ways_of(source: Source) -> list[str]:
    """The ways that suit a program."""
    return [name for name, way in WAYS.items() if source.name not in way.not_for
            and (name not in OF_TLS or "tls" in source.name)]


@dataclass(frozen=True)
class Link:
    """How to link one file: the linker's arguments without the output."""

    arguments: tuple[str, ...]
    objects: tuple[Path, ...]
    is_shared: bool = False
    is_static: bool = False
    is_lto: bool = False

    def run(self, linker: Path, output: Path, *flags: str) -> subprocess.CompletedProcess:
        command = [os.fspath(word) for word in (linker, *self.arguments, *flags, "-o", output)]
        return subprocess.run(command, capture_output=True, text=True)


@dataclass
class Startable:
    """A program that is linked without a front, in a folder with its libraries."""

    folder: Path
    files: dict[str, Link]  # by name, in the order to link them; the last is the program
    arguments: tuple[str, ...] = ()
    expected: tuple[int, str] = field(default=(0, ""))

    @property
    def program(self) -> Link:
        return list(self.files.values())[-1]

    def start(self, folder: Path) -> tuple[int, str]:
        """The exit status, and what it writes."""
        ran = subprocess.run([folder / list(self.files)[-1], *self.arguments], cwd=folder,
                             capture_output=True, text=True,
                             env={**os.environ, "LD_LIBRARY_PATH": os.fspath(folder)})
        return ran.returncode, ran.stdout


@functools.cache
def _driver_words(driver: Path, flags: tuple[str, ...], output: str) -> tuple[str, ...]:
    """The linker's arguments that a compiler makes of flags and files, which have to be there."""
    ran = subprocess.run([driver, "-###", f"--ld-path={LD_LLD}", *flags, "-o", output],
                         capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    words = shlex.split(ran.stderr.strip().splitlines()[-1])[1:]
    at = words.index("-o")
    return (*words[:at], *words[at + 2:])


def _link(source: Source, flags: tuple[str, ...], objects: tuple[Path, ...],
          folder: Path) -> Link:
    driver = COMPILERS["clang"][source.is_cxx]
    words = _driver_words(driver, (*flags, *map(os.fspath, objects)), str(folder / "output"))
    return Link(words, tuple(path for path in objects if path.suffix == ".o"),
                "-shared" in flags, any("static" in flag for flag in flags),
                any("-flto" in flag for flag in flags))


def _objects(source: Source, files: tuple[Path, ...], way: Way,
             flags: tuple[str, ...]) -> tuple[Path, ...]:
    headers = {source.include_folder + path.name: path for path in source.headers}
    return tuple(
        compiled(COMPILERS[way.compiler][path.suffix in _CXX], "-O1", "-g0", "-w", *SECTION_FLAGS,
                 *flags, "-I.", "-c", path.name, output=f"{path.stem}.o",
                 sources={path.name: path, **headers}) for path in files)


def make(source: Source, way: Way, folder: Path) -> Startable:
    """Compiles and links a program without a front."""
    files: dict[str, Link] = {}
    needs, before = source.needs, ()
    for name in ("libuser.so", "libmain.so"):
        folder.joinpath(name).touch()
    if source.library:
        script = ((f"-Wl,--version-script={source.version_script}",)
                  if source.version_script else ())
        of_program = re.compile("pie|PIE|cmodel|tls-model")
        flags = tuple(flag for flag in way.compile_flags if not of_program.search(flag))
        objects = _objects(source, source.library, way, (*flags, "-fPIC"))
        flags = ("-shared", "-Wl,-soname=libuser.so", *script, *_lto(way))
        files["libuser.so"] = _link(source, flags, objects, folder)
        before = (folder / "libuser.so",)
    objects = _objects(source, source.files, way, way.compile_flags)
    if way.is_library:
        files["libmain.so"] = _link(source, ("-shared", "-Wl,-soname=libmain.so", *needs),
                                    (*objects, *before), folder)
        files["program"] = _link(source, ("-pie", *needs), (folder / "libmain.so", *before), folder)
    else:
        flags = (*way.link_flags, *needs)
        files["program"] = _link(source, flags, (*objects, *before), folder)
    return _linked(Startable(folder, files, source.arguments))


def _lto(way: Way) -> tuple[str, ...]:
    return tuple(flag for flag in way.link_flags if flag.startswith("-flto"))


def _linked(made: Startable) -> Startable:
    for name, link in made.files.items():
        ran = link.run(LD_LLD, made.folder / name)
        assert ran.returncode == 0, f"{link.arguments}\n{ran.stderr}"
    made.expected = made.start(made.folder)
    assert made.expected[0] == 0, made.expected
    return made


def make_rust(folder: Path) -> Startable:
    """The Rust program of the matrix."""
    _, *words = matrix.tally(matrix.RUST_RELEASE, "v0", 1).link_command
    link = Link(_driver_words(COMPILERS["clang"][0], tuple(words), str(folder / "program")),
                tuple(Path(word) for word in words if word.endswith((".o", ".rlib"))))
    return _linked(Startable(folder, {"program": link}, ("--all",)))
