"""A small C program with more functions than its start needs, and what builds it."""

from pathlib import Path

from linking import check_run

FUNCTIONS = 1500

_CMAKE = """\
cmake_minimum_required(VERSION 3.25)
project(app C)
add_compile_options(-O1 -ffunction-sections -fdata-sections)
add_library(parts STATIC parts.c)
add_executable(app main.c)
target_link_libraries(app PRIVATE parts)
"""
_MESON = """\
project('app', 'c', default_options: ['buildtype=release'])
executable('app', 'main.c', 'parts.c', c_args: ['-ffunction-sections', '-fdata-sections'])
"""
_MAKE = """\
CFLAGS = -O1
app: main.o parts.o
\t$(CC) $(LDFLAGS) $^ -o $@
"""
_MAIN = """\
#include <stdio.h>
int start(int), other(int);
int main(int argc, char **argv) {
  printf("%d\\n", argc > 2 ? other(argc) : start(argc));
  return argc > 1 && *argv[1] == 'f' ? 3 : 0;
}
"""


def write(folder: Path) -> Path:
    """The sources, and a CMakeLists.txt, a meson.build and a Makefile."""
    folder.mkdir(parents=True, exist_ok=True)
    parts = "".join(f"__attribute__((noinline)) int part{number}(int x) {{\n"
                    "  if (x < 0) __asm__ volatile(\".skip 64\");\n"
                    f"  return x * {number + 3};\n}}\n" for number in range(FUNCTIONS))
    (folder / "main.c").write_text(_MAIN)
    (folder / "parts.c").write_text(
        f"{parts}int start(int x) {{ return part7(x) + part{FUNCTIONS - 3}(x); }}\n"
        f"int other(int x) {{ return part8(x); }}\n")
    (folder / "CMakeLists.txt").write_text(_CMAKE)
    (folder / "meson.build").write_text(_MESON)
    (folder / "Makefile").write_text(_MAKE)
    return folder


def with_cmake(source: Path, build: Path, generator: str) -> Path:
    """Builds with CMake; returns the program."""
    check_run("cmake", "-G", generator, "-S", source, "-B", build)
    check_run("cmake", "--build", build)
    return build / "app"


def with_meson(source: Path, build: Path) -> Path:
    check_run("meson", "setup", build, source)
    check_run("ninja", "-C", build)
    return build / "app"


def with_make(source: Path, *options: str) -> Path:
    check_run("make", "-C", source, *options)
    return source / "app"
