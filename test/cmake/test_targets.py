"""What of a project gets a front: programs, libraries of each kind, and what is linked into them.
"""

import pytest
from projects import HEADER, functions, has_front, linker, names, profile_text


def flags(p, target: str) -> str:
    """The options that a target's files are compiled with (Ninja)."""
    text = (p.binary / "build.ninja").read_text()
    block = text.split(f"build CMakeFiles/{target}.dir/", 1)[1].split("\n\n")[0]
    return next((line for line in block.splitlines() if line.strip().startswith("FLAGS =")), "")


def test_libraries_that_are_linked_in(project):
    """Object and static libraries of the build get the section flags, however they come into the
    target and whether they come before or after the call; what is not linked into it does not."""
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
""", **{f"{c}_c": f"int {c}(void) {{ return 1; }}\n" for c in "abcd"})
    p.path("app.startup").write_text(profile_text("app", "greet"))
    p.configure()
    for target in ("app", "objects", "named", "archive", "deep"):
        assert "-ffunction-sections -fdata-sections" in flags(p, target), target
    for target in ("shared", "unused"):
        assert "-ffunction-sections" not in flags(p, target), target
    p.build()
    order = functions(p.built("app"))
    assert order.index("greet") < order.index("rare")


def test_library_alone(project):
    """A call for a static or object library compiles it for fronts, wherever it is linked into."""
    p = project().write("""
add_library(objects OBJECT greet.c)
frontload_target(objects)
""")
    assert "Warning" not in p.configure()
    assert "-ffunction-sections -fdata-sections" in flags(p, "objects")


def test_off_has_no_section_flags(project):
    p = project().write("add_executable(app main.c greet.c)\nfrontload_target(app)\n")
    p.configure("-DFRONTLOAD=off")
    assert flags(p, "app") and "-ffunction-sections" not in flags(p, "app")


@pytest.mark.parametrize("kind, output", [("SHARED", "libgoods.so"), ("MODULE", "libgoods.so")])
def test_library_is_trained_by_a_program(project, kind, output):
    """A shared library is recorded in the program that loads it, by the dynamic linker or by
    itself; the program may be made later, and in another folder."""
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
    p.path("goods/CMakeLists.txt").write_text(f"""
add_library(goods {kind} ../greet.c)
frontload_target(goods TRAIN COMMAND app)
""")
    p.train()
    assert names(p.path("goods/goods.startup")) == ["greet"] or "greet" in names(
        p.path("goods/goods.startup"))
    p.configure("-DFRONTLOAD=use")
    assert p.rebuilt_by() >= {output}
    assert has_front(p.binary / "goods" / output)


def test_names_of_outputs(project):
    """The profile is the target's, whatever its output is called, and stays so if that changes."""
    p = project().write("""
add_executable(app main.c greet.c)
set_target_properties(app PROPERTIES OUTPUT_NAME "shop-${SUFFIX}" SUFFIX ".bin"
  RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/out)
frontload_target(app TRAIN COMMAND app)
""")
    p.train("-DSUFFIX=one")
    p.configure("-DFRONTLOAD=use")
    p.build()
    assert has_front(p.built("out/shop-one.bin"))
    p.configure("-DSUFFIX=two")
    p.build()
    assert has_front(p.built("out/shop-two.bin"))


def test_versions_with_letters(project):
    """What follows the digit behind .so is part of the version, whatever it is."""
    p = project().write("""
add_library(goods SHARED greet.c)
set_target_properties(goods PROPERTIES VERSION 1.2.3-rc1 SOVERSION 1)
frontload_target(goods)
""")
    p.path("goods.startup").write_text(profile_text("libgoods.so", "greet"))
    p.configure()
    p.build()
    assert has_front(p.built("libgoods.so.1.2.3-rc1"))


def test_other_linkers(project):
    """The project's own choice of a linker, and link options, are for its other targets."""
    p = project().write("""
add_link_options(-fuse-ld=bfd -Wl,--gc-sections)
add_executable(app main.c greet.c)
add_executable(other main.c greet.c)
frontload_target(app)
target_link_options(app PRIVATE -fuse-ld=gold)
""")
    p.path("app.startup").write_text(profile_text("app", "greet"))
    p.configure("-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=gold")
    p.build()
    assert has_front(p.built("app")) and linker(p.built("other")) == "other"


@pytest.mark.parametrize("how, option", [
    ("-Wl,-T,${CMAKE_SOURCE_DIR}/layout.ld", "-T "),
    ("-T${CMAKE_SOURCE_DIR}/layout.ld", "-T"),
    ("LINKER:--script=${CMAKE_SOURCE_DIR}/layout.ld", "--script="),
    ("SHELL:-Xlinker --section-start=.shop=0x9000000", "--section-start="),
])
def test_own_layout(project, how, option):
    """Who lays a target out by hand has no front: it is linked as the project has it, with a
    warning, profile or no profile."""
    p = project().write(f"""
add_executable(app main.c greet.c)
frontload_target(app TRAIN COMMAND app)
target_link_options(app PRIVATE "{how}")
""")
    p.path("layout.ld").write_text("SECTIONS { .shop : { *(.shop) } } INSERT AFTER .data;\n")
    p.path("app.startup").write_text(profile_text("app", "greet"))
    said = p.configure()
    assert f"app is linked without a front: {option}" in said
    assert "decides the layout itself" in said
    p.build()
    assert not has_front(p.built("app"))
    assert "app cannot be recorded" in p.configure("-DFRONTLOAD=record", code=1)


def test_script_of_symbols(project):
    """A linker script that places nothing is no obstacle."""
    p = project().write("""
add_executable(app main.c greet.c)
frontload_target(app)
target_link_options(app PRIVATE -T ${CMAKE_SOURCE_DIR}/symbols.ld)
""")
    p.path("symbols.ld").write_text("shop_size = 42; /* no */ \n")
    p.path("app.startup").write_text(profile_text("app", "greet"))
    assert "without a front" not in p.configure()
    p.build()
    assert has_front(p.built("app"))


@pytest.mark.parametrize("languages", ["C", "C CXX"])
def test_unknown_compiler(project, languages):
    """One for which no linker can be chosen links as ever, with a warning if there is no other."""
    p = project().write("""
set(CMAKE_C_COMPILER_ID NVHPC)
add_executable(app main.c greet.c)
frontload_target(app TRAIN COMMAND app)
""", header=HEADER.replace("LANGUAGES C", f"LANGUAGES {languages}"))
    p.path("app.startup").write_text(profile_text("app", "greet"))
    assert ("its compiler is NVHPC" in p.configure()) == (languages == "C")
    p.build()
    assert not has_front(p.built("app"))
    if languages == "C":
        assert "app cannot be recorded" in p.configure("-DFRONTLOAD=record", code=1)


def test_linker_type(project, run):
    """CMake's own way to choose a linker, too, is for other targets, and no reason to say no."""
    version = run("cmake", "--version").stdout.split()[2]
    if tuple(map(int, version.split(".")[:2])) < (3, 29):
        pytest.skip(f"CMake {version} has no CMAKE_LINKER_TYPE; 3.29 has")
    p = project().write("""
set(CMAKE_LINKER_TYPE BFD)
check_frontload_supported()
add_executable(app main.c greet.c)
add_executable(other main.c greet.c)
frontload_target(app)
""", header=HEADER.replace("3.25", "3.29"))
    p.path("app.startup").write_text(profile_text("app", "greet"))
    p.configure()
    p.build()
    assert has_front(p.built("app")) and linker(p.built("other")) == "other"


LTO = "set_target_properties(app PROPERTIES INTERPROCEDURAL_OPTIMIZATION ON)\n"


@pytest.mark.parametrize("how", [
    LTO, "target_compile_options(app PRIVATE -flto)\n",
    "target_compile_options(app PRIVATE -fno-lto -flto=auto)\n",
    "set(CMAKE_C_FLAGS_RELEASE -flto)\n"])
def test_gcc_with_lto(project, how):
    """lld cannot read what gcc's LTO leaves in objects: the target is linked plainly, with a
    warning that says what would help."""
    p = project().write("""
add_executable(app main.c greet.c)
frontload_target(app TRAIN COMMAND app)
""" + how)
    p.path("app.startup").write_text(profile_text("app", "greet"))
    said = p.configure()
    assert "app is linked without a front: gcc's link-time optimization" in said
    assert "INTERPROCEDURAL_OPTIMIZATION OFF" in said
    p.build()
    assert not has_front(p.built("app"))
    said = p.configure("-DFRONTLOAD=record", code=1)
    assert "gcc's link-time optimization" in said


def test_gcc_with_fat_objects(project):
    """What Debian's packages compile with is for any linker."""
    p = project().write("add_executable(app main.c greet.c)\nfrontload_target(app)\n")
    p.path("app.startup").write_text(profile_text("app", "greet"))
    p.configure("-DCMAKE_C_FLAGS=-flto -ffat-lto-objects")
    p.build()
    assert has_front(p.built("app"))


def test_gcc_without_lto_in_the_end(project):
    """The last option counts: a target that takes the project's LTO back has a front."""
    p = project().write("""
add_executable(app main.c greet.c)
frontload_target(app)
target_compile_options(app PRIVATE -fno-lto)
target_link_options(app PRIVATE -fno-lto)
""")
    p.path("app.startup").write_text(profile_text("app", "greet"))
    assert "without a front" not in p.configure("-DCMAKE_C_FLAGS=-flto")
    p.build()
    assert has_front(p.built("app"))


def test_clang_with_lto(project):
    p = project(compiler="clang").write("""
add_executable(app main.c greet.c)
frontload_target(app TRAIN COMMAND app)
""" + LTO)
    p.train()
    p.configure("-DFRONTLOAD=use")
    p.build()
    assert has_front(p.built("app"))


def test_cxx_and_c(project):
    """Languages may be mixed, and a library only linked to may have more of them."""
    p = project().write("""
enable_language(CXX)
add_library(goods STATIC goods.cpp)
add_executable(app main.c)
target_link_libraries(app PRIVATE goods)
frontload_target(app TRAIN COMMAND app)
""")
    p.path("goods.cpp").write_text('#include <string>\nextern "C" int greet(int x) {\n'
                                   '  return x + std::to_string(x).size();\n}\n')
    p.train()
    p.configure("-DFRONTLOAD=use")
    p.build()
    assert has_front(p.built("app"))
