"""frontload init: what it sees in a folder, and what it says to add."""

import functools
import json
import shutil
from pathlib import Path

import auto_project
import pytest
from abilities import needs
from frontload.auto import advice, build_folder, programs
from frontload.auto.advice import target_of


@pytest.fixture
def say(cli, tools):
    """say(*args): runs `frontload init`."""
    return functools.partial(cli, "init")


@pytest.fixture
def init(say):
    """init(*args): what `frontload init --json` says."""
    def init(*args):
        return json.loads(say("--json=-", *args).out)
    return init


@pytest.fixture
def source(tmp_path) -> Path:
    return auto_project.write(tmp_path / "source")


def lines(found) -> str:
    return "\n".join(line for step in found["advice"]["steps"] for line in step["lines"])


def test_a_cmake_build_folder_is_read(init, say, source):
    """From a build folder and from its sources: the same build, program and lines."""
    app = auto_project.with_cmake(source, source / "build", "Ninja")
    for folder in (app.parent, source):
        found = init(folder)
        assert found["folder"]["system"] == "cmake"
        assert found["folder"]["source"] == str(source)
        assert found["folder"]["build"] == str(app.parent)
        assert found["folder"]["generator"] == "Ninja"
        assert [each["language"] for each in found["folder"]["compilers"]] == ["C"]
        assert found["folder"]["compilers"][0]["version"].split()[1][0].isdigit()
        assert found["target"] == str(app)
        assert found["link"] == f"Ninja in {app.parent}"
        assert found["sections"]["lost"] is None
        step = found["advice"]["steps"][0]
        assert step["file"] == str(source / "CMakeLists.txt")
        assert "  frontload_target(app TRAIN COMMAND app --version)" in step["lines"]
        assert found["advice"]["profile"] == str(source / "app.startup")
        assert "app" in say("--program", "other", folder, code=2).err
    for output in ("app", "/build/app-1.2"):
        assert target_of(build_folder.look(str(source)), output).line == 5
    assert "no such folder" in say(source / "no", code=2).err


def test_write_appends_to_the_file_of_the_target_once(say, source):
    """The rest of the file, its ends of lines and its permissions stay."""
    lists = source / "CMakeLists.txt"
    before = lists.read_bytes().replace(b"\n", b"\r\n")
    lists.write_bytes(before)
    lists.chmod(0o640)
    assert "written" in say("--write", "--program", "app", source).err
    after = lists.read_bytes()
    assert after.startswith(before)
    assert b"  frontload_target(app TRAIN COMMAND app --version)" in after
    assert after.count(b"\n") == after.count(b"\r\n")
    assert lists.stat().st_mode & 0o777 == 0o640
    assert "there already" in say("--write", "--program", "app", source).err
    assert lists.read_bytes() == after


@pytest.mark.parametrize(("text", "code"), [
    ("if(X)\n  add_executable(app main.c)\nendif()\n", 1),
    ("# add_executable(app main.c)\nadd_executable(${name} main.c)\n", 1), ("", 1)])
def test_what_cannot_be_changed_safely_is_left(say, source, text, code):
    """Lines in the wrong place would break the build, or do nothing."""
    (source / "CMakeLists.txt").write_text(text)
    said = say("--write", "--program", "app", source, code=code).err
    assert "does not name the target" in said and "add the lines yourself" in said
    assert (source / "CMakeLists.txt").read_text() == text


def test_a_makefile_and_missing_section_flags_are_told(say, tmp_path):
    """What is lost is said where nothing else would say it."""
    source = auto_project.write(tmp_path, "Makefile")
    auto_project.with_make(source, "LDFLAGS=-s")
    text = say(source).out
    assert "make -C" in text and "frontload-cc" in text
    assert "-ffunction-sections" in text and "GNU ld" in text and "is stripped" in text
    assert "is for the targets of CMake" in say("--write", source, code=2).err


@pytest.mark.parametrize(("files", "system", "part"), [
    (["Cargo.toml"], "cargo", "cargo build --release"),
    (["go.mod"], "go", "-linkmode=external"),
    (["MODULE.bazel"], "bazel", "frontload_cc_binary"),
    (["configure.ac"], "autotools", "configure"),
    (["configure", "Makefile"], "make", "make -C"),  # nginx's script is none of Autoconf
    (["Cargo.toml", "Makefile"], "cargo", "cargo build"),
    (["readme.txt"], "unknown", "frontload-cc"),
])
def test_each_build_system_gets_lines_of_its_own(tmp_path, files, system, part):
    """By what its folder has in it; what nobody knows gets the wrapper."""
    for name in files:
        (tmp_path / name).touch()
    assert build_folder.look(str(tmp_path)).system == system and part in advised(tmp_path)


@pytest.mark.parametrize(("files", "said"), [
    (["CMakeLists.txt"], 'READY --until-listening=80 "--request=get \\"a\\;b\\"" --timeout=5 '
     'TRAIN COMMAND app --name "two words"'),
    (["Makefile"], "record -o traces --until-listening=80 '--request=get \"a;b\"' --timeout=5 -- "),
    (["Cargo.toml"], "record -o traces --until-listening=80 '--request=get \"a;b\"' --timeout=5 -- "
     "target/release/app --name 'two words'"),
])
def test_a_program_that_does_not_end(init, tmp_path, files, said):
    """The lines say when it is ready, in the words of the build system."""
    for name in files:
        (tmp_path / name).write_text("add_executable(app app.c)\n")
    found = init("--program", "app", "--arguments", "--name 'two words'", "--until-listening", "80",
                 "--request", 'get "a;b"', "--timeout", "5", tmp_path)
    assert said in lines(found)


def advised(folder: Path, **training) -> str:
    found = advice.advise(build_folder.look(str(folder)), str(folder / "src/app"),
                                  advice.Training(**training))
    return "\n".join(line for step in found.steps for line in step.lines)


def test_the_lines_have_all_that_was_tried(tmp_path):
    """What stands before the program, data with the map that it needs, the prefetch."""
    (tmp_path / "Makefile").touch()
    text = advised(tmp_path, command="setpriv --reuid=nobody {} -D data", data=True, prefetch=True,
                   options=("--until-idle=9",))
    command = f"--until-idle=9 -- setpriv --reuid=nobody {tmp_path}/src/app -D data"
    assert f"record -o traces {command}" in text and f"--data -o traces {command}" in text
    assert f"--map {tmp_path}/src/app.map" in text and "startup --prefetch cc'" in text
    assert "LD_LIBRARY_PATH=" in text and "LD_LIBRARY_PATH=" not in advised(tmp_path)
    (tmp_path / "CMakeLists.txt").write_text("add_executable(app app.c)")
    text = advised(tmp_path, command="sh -c '{} -D data'", data=True, prefetch=True)
    assert 'DATA PREFETCH TRAIN COMMAND sh -c "$<TARGET_FILE:app> -D data"' in text


@pytest.mark.parametrize("configured", [  # by Autoconf 2.69 and 2.71
    r"""\"'--prefix=/p' 'CFLAGS=-O2 -g'\"""".replace("\\", ""),
    r"'--prefix=/p '\''CFLAGS=-O2 -g'\''' "])
def test_what_was_configured_in_place_is_configured_there_again(tmp_path, configured):
    """With the arguments that it had; a second folder would be refused."""
    (tmp_path / "configure").write_text("# Generated by GNU Autoconf 2.71\n")
    (tmp_path / "config.status").write_text(f"#!/bin/sh\nac_cs_config={configured}\n")
    (tmp_path / "Makefile").write_text("srcdir = .\n")
    text = advised(tmp_path, command="{}")
    assert "make distclean" in text and "build-front" not in text
    assert f"{tmp_path}/configure \\\n  --prefix=/p 'CFLAGS=-O2 -g' \\\n  CC=" in text


def test_what_was_built_is_built_anew_by_clean_if_that_is_there(tmp_path):
    """In the folder where the build runs."""
    for makefile, said in (("all:\nclean:\n\trm -f app\n", "make -C {} clean\nFRONTLOAD=record "
                            "make -C {} \\"), ("clean = no\n", "record make -C {} -B"),
                           ("clean:\n\trm -rf Makefile objs\n", "record make -C {} -B")):
        (tmp_path / "Makefile").write_text(makefile)
        assert said.replace("{}", str(tmp_path)) in advised(tmp_path)
    (tmp_path / "objs").mkdir()
    (tmp_path / "objs/Makefile").touch()
    for runs in ((tmp_path / "objs",), (tmp_path / "objs", tmp_path)):
        found = build_folder.of_program(str(tmp_path / "objs/app"), *map(str, runs))
        assert found.path == str(runs[-1])


@pytest.mark.parametrize(("flags", "said"), [
    ("-fuse-ld=mold", "asks for mold"), ("-Wl,--symbol-ordering-file=x", "order of sections"),
    ("-s", "strips"), ("-Wl,-N", "one segment"), ("-flto", "lld cannot link")])
def test_what_hinders_is_told_from_the_flags_of_a_build(say, source, flags, said):
    build = source / "build"
    build.mkdir()
    (build / "CMakeCache.txt").write_text(
        f"CMAKE_HOME_DIRECTORY:INTERNAL={source}\nCMAKE_BUILD_TYPE:STRING=Release\n"
        f"CMAKE_EXE_LINKER_FLAGS:STRING={flags}\n"
        "CMAKE_EXE_LINKER_FLAGS_DEBUG:STRING=-Wl,--omagic\n")
    text = say(build).out
    assert "obstacle: " in text and said in text and "omagic" not in text


def test_damaged_files_of_a_build_are_passed_over(init, source):
    """They are somebody else's: the folder is looked at without them."""
    build = source / "build"
    (build / "meson-info").mkdir(parents=True)
    for text in ("{", "[]", '[1, {"name": "x"}]', '{"directories": 1}'):
        for name in ("meson-info", "intro-targets", "intro-buildoptions"):
            (build / f"meson-info/{name}.json").write_text(text)
        assert init(build)["folder"]["targets"] == []
    shutil.rmtree(build / "meson-info")
    (build / "CMakeCache.txt").write_bytes(b"\xff\xfe:=\nCMAKE_HOME_DIRECTORY:INTERNAL=/nowhere\n")
    assert init(build)["folder"]["targets"] == []
    (build / "app").write_bytes(b"\x7fELF and no more")
    (build / "app").chmod(0o755)
    assert init(build)["programs"] == []


@pytest.mark.parametrize("link", [
    "cc main.o -o app $(touch {made})", "./cc main.o -o app", "`touch {made}`/cc main.o -o app"])
@pytest.mark.parametrize("generator", ["Ninja", "Makefiles"])
def test_nothing_of_a_build_folder_is_run(init, tmp_path, generator, link):
    """Neither what its link commands substitute nor a compiler in it: it may be anybody's."""
    shutil.copy("/bin/true", tmp_path / "app")
    made = tmp_path / "made"
    (tmp_path / "cc").write_text(f"#!/bin/sh\ntouch {made}\n")
    (tmp_path / "cc").chmod(0o755)
    (tmp_path / "CMakeCache.txt").write_text(f"CMAKE_HOME_DIRECTORY:INTERNAL={tmp_path}\n")
    link = link.format(made=made)
    text = tmp_path / "CMakeFiles/app.dir/link.txt"
    if generator == "Ninja":
        text = tmp_path / "build.ninja"
        link = (f"rule link\n  command = {link.replace('$', '$$')}\nbuild app: link main.o\n")
    text.parent.mkdir(parents=True, exist_ok=True)
    text.write_text(link)
    found = init(tmp_path)
    assert found["target"] == str(tmp_path / "app") and str(tmp_path) in found["link"]
    assert not made.exists()


@pytest.mark.parametrize(("version", "said"), [("Clang 17.0.1", "lld does it"),
                                               ("GNU 12.2.0", "lld cannot link")])
def test_which_compiler_cc_is_is_read_from_the_build(init, tmp_path, version, said):
    shutil.copy("/bin/true", tmp_path / "app")
    name, number = version.split()
    for path, text in (
            ("CMakeCache.txt", f"CMAKE_HOME_DIRECTORY:INTERNAL={tmp_path}\n"),
            ("CMakeFiles/app.dir/link.txt", "/usr/bin/cc -flto main.o -o app\n"),
            ("CMakeFiles/3/CMakeCCompiler.cmake", 'set(CMAKE_C_COMPILER "/usr/bin/cc")\n'
             f'set(CMAKE_C_COMPILER_ID "{name}")\nset(CMAKE_C_COMPILER_VERSION "{number}")\n')):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    assert said in init(tmp_path)["lto"]


def test_the_kinds_of_programs_are_told_apart(tmp_path, run, llvm):
    """By linker, compiler, position, and whether they are stripped."""
    (tmp_path / "a.c").write_text("int main(void) { return 0; }\n")
    made = {"lld": [llvm / "clang", "-fuse-ld=lld"], "static-pie": ["cc", "-static-pie"],
            "fixed": ["cc", "-no-pie", "-s"], "libx.so.1": ["cc", "-shared", "-fPIC"]}
    for name, command in made.items():
        run(*command, tmp_path / "a.c", "-o", tmp_path / name)
    found = {Path(each.path).name: each for each in programs.below(tmp_path)}
    assert found.keys() == made.keys()
    assert list(found) == sorted(found, key=lambda name: -found[name].size)
    assert found["fixed"].linker == "GNU ld" and found["lld"].linker.startswith("lld ")
    assert [name for name, each in found.items() if each.kind == "static program"
            ] == ["static-pie"]
    assert found["libx.so.1"].kind == "shared library"
    assert not found["fixed"].position_independent and found["static-pie"].position_independent
    assert [name for name, each in found.items() if each.stripped] == ["fixed"]


@needs("ptrace", "built:bin/frontload-cc")
def test_the_lines_for_make_make_a_front(init, run, tmp_path):
    """Typed as they are printed, they record and link, by frontload-cc before the compiler."""
    source = auto_project.write(tmp_path, "Makefile")
    app = auto_project.with_make(source)
    run("sh", "-ec", lines(init("--arguments", "now", source)), cwd=source)
    assert (source / "startup/app.startup").exists() and b".note.frontload" in app.read_bytes()


@needs("ptrace")
def test_the_lines_for_cmake_make_a_front(init, say, run, source):
    """The same with CMake; and it is a CMakeLists.txt also where Frontload is not installed."""
    found = init("--program", "app", "--arguments", "now", source)
    say("--write", "--program", "app", "--arguments", "now", source)
    for step in found["advice"]["steps"][1:]:
        for line in step["lines"]:
            run("sh", "-ec", line)
    assert (source / "app.startup").read_bytes().startswith(b"frontload-startup-profile")
    assert b".note.frontload" in (source / "build-front/app").read_bytes()
    run("cmake", "-S", source, "-B", source / "plain")
