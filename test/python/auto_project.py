"""A small C program with more functions than its start needs, and what builds it."""

from pathlib import Path

from linking import check_run

FUNCTIONS = 1500

_SYSTEMS = {"CMakeLists.txt": """\
cmake_minimum_required(VERSION 3.25)
project(app C)
add_compile_options(-O1 -ffunction-sections -fdata-sections)
add_library(parts parts.c)
add_executable(app main.c)
target_link_libraries(app PRIVATE parts)
set_target_properties(parts PROPERTIES VERSION 1.2 SOVERSION 1)
""", "meson.build": """\
project('app', 'c', default_options: ['buildtype=release'])
executable('app', 'main.c', 'parts.c', c_args: ['-ffunction-sections', '-fdata-sections'])
""", "Makefile": """\
CFLAGS = -O1
app: main.o parts.o
\t$(CC) $(LDFLAGS) $^ -o $@
"""}
_MAIN = """\
#include <stdio.h>
int start(int), other(int);
int main(int argc, char **argv) {
  printf("%d\\n", argc > 2 ? other(argc) : start(argc));
  return argc > 1 && *argv[1] == 'f' ? 3 : 0;
}
"""


def write(folder: Path, *systems: str) -> Path:
    """The sources, and what these build systems need, or all."""
    folder.mkdir(parents=True, exist_ok=True)
    parts = "".join(f"__attribute__((noinline)) int part{number}(int x) {{\n"
                    "  if (x < 0) __asm__ volatile(\".skip 64\");\n"
                    f"  return x * {number + 3};\n}}\n" for number in range(FUNCTIONS))
    (folder / "main.c").write_text(_MAIN)
    (folder / "parts.c").write_text(
        f"{parts}int start(int x) {{ return part7(x) + part{FUNCTIONS - 3}(x); }}\n"
        f"int other(int x) {{ return part8(x); }}\n")
    for name, text in _SYSTEMS.items():
        if name in (systems or _SYSTEMS):
            (folder / name).write_text(text)
    return folder


def with_cmake(source: Path, build: Path, generator: str, *options: str) -> Path:
    """Builds with CMake; returns the program."""
    check_run("cmake", "-G", generator, "-S", source, "-B", build, *options)
    check_run("cmake", "--build", build)
    return build / "app"


def with_make(source: Path, *options: str) -> Path:
    check_run("make", "-C", source, *options)
    return source / "app"
