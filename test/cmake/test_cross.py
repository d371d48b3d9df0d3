"""Builds for another machine: profiles are used in them, not made."""

import pytest
from projects import HEADER, has_front, profile_text

START_C = """
int greet(int);
void _start(void) { for (;;) greet(1); }
"""


@pytest.fixture
def cross(project, tmp_path, llvm):
    """A project for AArch64, of which there is a compiler and no libc."""
    toolchain = tmp_path / "aarch64.cmake"
    toolchain.write_text(f"""
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER {llvm}/clang)
set(CMAKE_C_COMPILER_TARGET aarch64-linux-gnu)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_FIND_ROOT_PATH {tmp_path}/sysroot)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# Its pages are of 64 KiB, so a small program is larger with a front.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-nostdlib -static -Wl,--front-always")
""")

    def cross(arguments: str = ""):
        p = project(compiler="clang").write(f"""
add_executable(app start.c greet.c)
frontload_target(app TRAIN COMMAND app {arguments})
""", header=HEADER, start_c=START_C)
        p.path("app.startup").write_text(profile_text("app", "greet"))
        return p, f"--toolchain={toolchain}"

    return cross


def test_profile_is_used(cross, llvm, run):
    p, toolchain = cross()
    assert "Warning" not in p.configure(toolchain)
    p.build()
    assert has_front(p.built("app"))
    assert "AArch64" in run(llvm / "llvm-readelf", "-h", p.built("app")).stdout


def test_recording_is_refused(cross):
    p, toolchain = cross()
    said = p.configure(toolchain, "-DFRONTLOAD=record", code=1)
    assert 'FRONTLOAD is "record" in a cross build' in said
    assert "Train in a native build" in said and "-DFRONTLOAD=use" in said


def test_prefetch_is_left_out(cross):
    """The library at hand is for another processor, so the program asks for nothing."""
    p, toolchain = cross("PREFETCH")
    said = p.configure(toolchain)
    assert "PREFETCH is left out" in said and "this build is for aarch64" in said
    p.build()
    assert has_front(p.built("app"))
