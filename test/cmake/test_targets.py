"""What of a project gets a front: programs, libraries of each kind, and what is linked into them.
"""

import re

import pytest
from projects import APP, HEADER, dynamic, has_front, is_ordered, linker, names, noted

LTO = "set_target_properties({} PROPERTIES INTERPROCEDURAL_OPTIMIZATION ON)"


def apps(project, options: dict[str, str], header: str = HEADER, **of_project):
    """Programs of these names, each with a profile, and with commands for each; {}: its name."""
    p = project(**of_project).write("".join(
        f"add_executable({name} main.c greet.c)\nfrontload_target({name} TRAIN COMMAND {name})\n"
        f"{text.replace('{}', name)}\n" for name, text in options.items()), header)
    for name in options:
        p.profile(name)
    return p


def fronts(p, names) -> set[str]:
    """Which of these programs have a front."""
    return {name for name in names if has_front(p.built(name))}


def flags(p, target: str) -> str:
    """The options that a target's files are compiled with (Ninja)."""
    text = (p.binary / "build.ninja").read_text()
    return re.search(rf"build CMakeFiles/{target}\.dir/.*?FLAGS = (.*?)\n", text, re.DOTALL)[1]


def test_libraries_that_are_linked_in(project):
    """They get the section flags, however they are linked in; what is not, does not."""
    p = project().write("""
add_library(objects OBJECT greet.c)
add_library(named OBJECT a.c)
add_library(archive STATIC b.c)
add_library(deep STATIC c.c)
add_library(shop::deep ALIAS deep)
target_link_libraries(archive PRIVATE shop::deep)
add_library(shared SHARED d.c)
add_library(unused STATIC d.c)
add_library(iface INTERFACE)
add_executable(app main.c $<TARGET_OBJECTS:named>)
target_link_libraries(app PRIVATE shared)
frontload_target(app)
target_link_libraries(iface INTERFACE archive)
target_link_libraries(app PRIVATE objects $<$<BOOL:ON>:iface> m)
# A call for such a library alone compiles it for fronts, wherever it is linked into.
add_library(alone OBJECT greet.c)
frontload_target(alone)
""", **{f"{c}_c": f"int {c}(void) {{ return 1; }}\n" for c in "abcd"})
    p.profile()
    assert "Warning" not in p.use()
    for target in ("app", "objects", "named", "archive", "deep", "alone"):
        assert "-ffunction-sections -fdata-sections" in flags(p, target), target
    for target in ("shared", "unused"):
        assert "-ffunction-sections" not in flags(p, target), target
    assert is_ordered(p.built(), "greet", "rare")


@pytest.mark.parametrize("kind", [
    "MODULE", pytest.param("SHARED", marks=pytest.mark.slow)])
def test_library_is_trained_by_a_program(project, kind):
    """A shared library is recorded in the program that loads it, which may be made later."""
    p = project().write("""
add_subdirectory(goods)
add_executable(app loader.c)
target_link_libraries(app PRIVATE ${CMAKE_DL_LIBS})
target_compile_definitions(app PRIVATE "GOODS=\\"$<TARGET_FILE:goods>\\"")
add_dependencies(app goods)
""", loader_c="""
#include <dlfcn.h>
int main(void) {
  void *goods = dlopen(GOODS, RTLD_NOW);
  int (*greet)(int) = (int (*)(int))dlsym(goods, "greet");
  return greet(1) != 42;
}
""")
    p.path("goods").mkdir()
    p.path("goods/CMakeLists.txt").write_text(
        f"add_library(goods {kind} ../greet.c)\nfrontload_target(goods TRAIN COMMAND app)\n")
    p.train()
    assert "greet" in names(p.path("goods/goods.startup"))
    p.configure("-DFRONTLOAD=use")
    assert p.rebuilt_by() >= {"libgoods.so"}
    assert has_front(p.binary / "goods/libgoods.so")


def test_names_of_outputs(project):
    """The profile is the target's, whatever its output is called, and whatever follows .so."""
    p = project().write(APP + """
set_target_properties(app PROPERTIES OUTPUT_NAME "shop-${SUFFIX}" SUFFIX ".bin"
  RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/out)
add_library(goods SHARED greet.c)
set_target_properties(goods PROPERTIES VERSION 1.2.3-rc1 SOVERSION 1)
frontload_target(goods)
""")
    p.profile("app")
    p.profile("goods")
    for suffix in ("one", "two"):
        p.use(f"-DSUFFIX={suffix}")
        assert has_front(p.built(f"out/shop-{suffix}.bin"))
    assert has_front(p.built("libgoods.so.1.2.3-rc1"))


@pytest.mark.parametrize("prefix, minimum", [
    ("add_link_options(-fuse-ld=bfd -Wl,--gc-sections)\n", "3.25"),
    ("set(CMAKE_LINKER_TYPE BFD)\n", "3.29")])
def test_other_linkers(project, prefix, minimum, run):
    """The project's own choice of a linker, and link options, are for its other targets."""
    version = run("cmake", "--version").stdout.split()[2]
    if tuple(map(int, version.split(".")[:2])) < tuple(map(int, minimum.split("."))):
        pytest.skip(f"CMake {version} has no CMAKE_LINKER_TYPE; {minimum} has")
    p = project().write(prefix + APP + "add_executable(other main.c greet.c)\n"
                        "target_link_options(app PRIVATE -fuse-ld=gold)\n",
                        HEADER.replace("3.25", minimum))
    p.profile()
    p.use("-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=bfd")
    assert has_front(p.built()) and linker(p.built("other")) == "other"


@pytest.mark.parametrize("languages", ["C", "C CXX"])
def test_unknown_compiler(project, languages):
    """One for which no linker can be chosen links as ever, with a warning if there is no other."""
    p = project().write("set(CMAKE_C_COMPILER_ID NVHPC)\n" + APP,
                        HEADER.replace("LANGUAGES C", f"LANGUAGES {languages}"))
    p.profile()
    assert ("its compiler is NVHPC" in p.use()) == (languages == "C")
    assert not has_front(p.built())
    if languages == "C":
        assert "app cannot be recorded" in p.configure("-DFRONTLOAD=record", code=1)


@pytest.mark.parametrize("flags", ["", "-flto"])
def test_gcc_with_lto(project, flags):
    """Linked by its own linker, which does what it can; fat objects are for any linker."""
    options = {"ipo": LTO, "own": "target_compile_options({} PRIVATE -flto)",
               "fat": "target_compile_options({} PRIVATE -flto -ffat-lto-objects)",
               "without": "target_compile_options({} PRIVATE -fno-lto)\n"
                          "target_link_options({} PRIVATE -fno-lto)", "plain": ""}
    p = apps(project, options)
    said = p.use(f"-DCMAKE_C_FLAGS_RELEASE={flags}")
    plainly = {"ipo", "own"} | ({"plain"} if flags else set())
    for name in plainly:
        assert f"{name} keeps its linker, because gcc's link-time optimization" in said
        assert noted(p.built(name)) > 1
    assert fronts(p, options) == options.keys() - plainly
    p.configure("-DFRONTLOAD=record")
    p.build()


def test_own_linker(project):
    """It links as the build says, in both modes, with all that frontload_target can ask for."""
    p = project().write("""
add_executable(app main.c greet.c)
frontload_target(app OWN_LINKER PREFETCH DATA MIN_MATCH 50 TRAIN COMMAND app)
""")
    p.configure("-DFRONTLOAD=record")
    p.train()
    assert linker(p.built()) == "other" and not noted(p.built())
    p.use()
    assert linker(p.built()) == "other" and noted(p.built()) > 1
    assert "libfrontload-prefetch" in dynamic(p.built())
    (p.source / "app.startup").unlink()
    p.build()
    assert not noted(p.built())


START_C = """
int greet(int);
void _start(void) { for (;;) greet(1); }
"""


def test_a_cross_build(project, tmp_path, llvm, run):
    """AArch64 has a front, and does not ask for the prefetch library of another processor."""
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
