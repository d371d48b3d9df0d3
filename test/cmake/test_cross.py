"""Builds for another machine: profiles are used in them, not made."""

from projects import has_front

START_C = """
int greet(int);
void _start(void) { for (;;) greet(1); }
"""


def test_a_cross_build(project, tmp_path, llvm, run):
    """For AArch64, of which there is a compiler and no libc. The prefetch library at hand is for
    another processor, so the program has a front and asks for nothing."""
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
    p = project(compiler="clang").write("""
add_executable(app start.c greet.c)
frontload_target(app PREFETCH TRAIN COMMAND app)
""", start_c=START_C)
    p.profile()
    said = p.use(f"--toolchain={toolchain}")
    assert "PREFETCH is left out" in said and "this build is for aarch64" in said
    assert has_front(p.built())
    assert "AArch64" in run(llvm / "llvm-readelf", "-h", p.built()).stdout
    said = p.configure("-DFRONTLOAD=record", code=1)
    assert 'FRONTLOAD is "record" in a cross build' in said
    assert "Train in a native build" in said and "-DFRONTLOAD=use" in said
