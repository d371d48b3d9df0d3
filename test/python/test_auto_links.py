"""Where frontload auto finds the command that linked a program, and what it makes of it."""

import json
import os

import pytest
from frontload.auto import link_command, link_sources, linker_options, relink, watched_build
from frontload.auto.link_sources import Search
from frontload.base import response_files
from frontload.base.errors import Failure
from hypothesis import given
from hypothesis import strategies as st


def links(text, directory="/build"):
    return [(link.directory, list(link.arguments)) for link in
            link_command.in_text(text, directory, "a test")]


def test_a_link_is_found_in_the_chain_of_commands_that_cmake_writes():
    """CMake's Ninja rules end with other commands, some of them in other folders."""
    text = (": && ccache /usr/bin/c++ -O2 a.o -o bin/app -Wl,-rpath,/x: libp.a && cd /build/sub && "
            "/usr/bin/cmake -E copy bin/app /tmp && :")
    assert links(text) == [("/build", ["/usr/bin/c++", "-O2", "a.o", "-o", "bin/app",
                                       "-Wl,-rpath,/x:", "libp.a"])]


@pytest.mark.parametrize("launcher", [
    "ccache", "env A=b", "A=b B=c", "/usr/bin/cmake -E env --unset=X A=b", "cmake -E time",
    "nice -n 10", "frontload-cc --mode=use --profile-dir=/p", "python3 wrapper.py --output=x --"])
def test_what_runs_the_compiler_is_left_out(launcher):
    """The driver is linked again by us, not by a cache or by frontload-cc."""
    assert links(f"{launcher} clang++-19 a.o -o app") == [("/build", ["clang++-19", "a.o", "-o",
                                                                      "app"])]
    link, = link_command.in_text(f"{launcher} gcc a.o", "/build", "a test")
    assert bool(link.environment) == (" A=b" in f" {launcher}")


@pytest.mark.parametrize("text", [
    "c++ -c a.cpp -o a.o", "ar rcs lib.a a.o", "cc -E a.c", "cc -r a.o b.o -o c.o", "echo cc a.o",
    "strip app", "cc --version", "libtool --mode=link gcc a.o -o app", ""])
def test_what_links_no_program_is_no_link(text):
    """Compilations, archives, partial links, and drivers that are only named."""
    assert links(text) == []


def test_words_are_read_as_a_shell_reads_them(tmp_path):
    """But nothing is run: what only a shell can evaluate stays as written, and is refused."""
    text = "cd sub\\ dir; cc 'a b.o' \"c\\\"d.o\" -DX='$y' -o app 2>&1 >log # cc other.o"
    assert links(text) == [("/build/sub dir", ["cc", "a b.o", 'c"d.o', "-DX=$y", "-o", "app"])]
    assert links('cc "\\$ORIGIN" `echo -lm` -o app $(touch a b)') == [
        ("/build", ["cc", "$ORIGIN", "`echo -lm`", "-o", "app", "$(touch a b)"])]
    with pytest.raises(Failure, match="only a shell can evaluate this"):
        command("gcc a.o $(pkg-config --libs x) -o app", tmp_path)


@given(st.text("abcgo.-+=/ \t\n\"'\\$(){}|&;<>#`*?[]~:")
       | st.lists(st.sampled_from(["cd", "cc", "env", "A=b", "-o", "x", "&&", ";", "(", "'", "$(",
                                   "nice", "-n", "cmake", "-E", "time", "--", "<<E", "\n"])
                  ).map(" ".join))
def test_any_text_is_gone_through_without_running_it(text):
    """Logs and build files hold what one likes: what is no command is left out."""
    for link in link_command.in_text(text, "/build", "a test"):
        assert link.arguments and link_command.is_link(link.arguments)


@given(st.lists(st.text()), st.text())
def test_arguments_are_read_from_what_was_written_for_them(words, text):
    assert response_files.words(response_files.text(words)) == words
    assert all(isinstance(word, str) for word in response_files.words(text))


def test_the_last_link_of_a_program_in_the_log_counts(tmp_path, monkeypatch):
    log = tmp_path / "links.jsonl"
    log.write_text("".join(json.dumps(
        {"directory": str(tmp_path), "output": out, "arguments": [
            "frontload-cc", "--mode=record", "cc", f"{name}.o", "-o", out]})
        + "\n" for name, out in (("old", "app"), ("new", "app"), ("x", "other"))))
    for known in (str(log), None):
        found = Search(str(tmp_path / "app"), log=known).find()
        assert found.arguments == ("cc", "new.o", "-o", "app") and found.source == str(log)
        monkeypatch.setenv("FRONTLOAD_LINK_LOG", str(log))
    # Names may have any bytes.
    folder = os.fsencode(tmp_path) + b"/M\xfcll"
    os.mkdir(folder)
    log.write_bytes(b'{"directory": "%s", "arguments": ["cc", "\xff.o", "-o", "app"]}\n' % folder)
    found = Search(os.fsdecode(folder) + "/app", log=str(log)).find()
    assert os.fsencode(found.directory) == folder
    assert os.fsencode(found.arguments[1]) == b"\xff.o"


@pytest.mark.parametrize("text", ["nonsense", "[]", '{"arguments": ["cc"]}',
                                  '{"directory": "/", "arguments": [1]}'])
def test_damaged_lines_of_a_log_are_told_and_cost_no_others(tmp_path, text):
    """Another program may have written the log."""
    log = tmp_path / "links.jsonl"
    line = json.dumps({"directory": str(tmp_path), "arguments": ["cc", "a.o", "-o", "app"]})
    log.write_text(f'\n{line}\n{text}\n{line}\n{line[:-9]}\n')
    found, damaged = link_sources.read_log(str(log))
    assert (len(found), damaged) == (2, 2)
    with pytest.raises(Failure, match="none of this program, and 2 damaged lines"):
        Search(str(tmp_path / "other"), log=str(log)).find()


NINJA = """\
rule link
  command = : && c++ @$out.rsp -o $out && :
  rspfile = $out.rsp
  rspfile_content = $in "-Wl,-z now"
build {output}: link {objects}
"""


def test_ninja_tells_what_was_in_response_files_of_each_configuration(tmp_path):
    """They are gone after the link; and each configuration has a file of its own."""
    for name, output in (("build.ninja", "Debug/app"), ("build-Release.ninja", "Release/app")):
        (tmp_path / name).write_text(NINJA.format(output=output, objects="a.o b.o"))
    before = sorted(tmp_path.iterdir())
    for output in ("Debug/app", "Release/app"):
        found = Search(str(tmp_path / output)).find()
        assert found.arguments == ("c++", "a.o", "b.o", "-Wl,-z now", "-o", output)
        assert found.directory == str(tmp_path)
    assert sorted(tmp_path.iterdir()) == before
    with pytest.raises(Failure, match=r"links other in .*, not .*/app"):
        Search(str(tmp_path / "app"), link="cc a.o -o other",
               build_folder=str(tmp_path)).find()
    link, = link_command.in_text("cc @x.rsp -o app", str(tmp_path), "a test")
    with pytest.raises(Failure, match=r"x\.rsp: the response file of the link is gone") as failed:
        link.expanded()
    assert "keeprsp" in failed.value.note


STRACE = """\
7 execve("/usr/bin/make", ["make"], 0x7ffd /* 20 vars */) = 0
7 chdir("{top}/sub") = 0
8 execve("/usr/bin/cc", ["cc", "m.o", "-o", "../bin/app", "-DX=\\"y\\303\\251\\""], 0x1 /* 9 vars */) = 0
9 execve("/usr/lib/collect2", ["/usr/lib/collect2", "-o", "../bin/app"], 0x1 /* 9 vars */) = 0
9 execve("/usr/bin/cc", ["cc", "-c", "main.c", "-o", "m.o"], 0x1 /* 9 vars */) = 0
9 execve("/no/cc", ["cc", "m.o", "-o", "../bin/app"], 0x1 /* 9 vars */) = -1 ENOENT (No such file)
"""  # noqa: E501


def test_a_watched_build_tells_the_drivers_command_and_its_folder(tmp_path):
    """The linker that the driver starts, and what could not be started, do not count."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "bin").mkdir()
    (tmp_path / "sub/m.o").touch()
    found = watched_build.read_calls(STRACE.replace("{top}", str(tmp_path)).splitlines(),
                                     str(tmp_path), str(tmp_path / "bin/app"))
    assert [(link.directory, link.arguments) for link in found] == [
        (str(tmp_path / "sub"), ("cc", "m.o", "-o", "../bin/app", '-DX="yé"'))]


def command(text, tmp_path, **options):
    link, = link_command.in_text(text, str(tmp_path), "a test")
    return relink.command_for(link, "new", relink.Options(**options))


def test_drivers_get_the_folder_of_the_linker(tmp_path, llvm, tools, build):
    """In which ld.frontload has the name that they look for."""
    made = command("gcc a.o -fuse-ld=gold -o app", tmp_path, profile="p")
    by_folder = ["-B", str(build / "lib/frontload/gcc"), "-fuse-ld=lld", "-Wl,--undefined-version"]
    assert made == ["gcc", *by_folder, "a.o",
                    "-Wl,--startup-profile=p", "-Wl,--front-always", "-o", "new"]
    made = command(f"{llvm}/clang a.o --ld-path=/x/ld.lld -oapp", tmp_path, profile="p",
                   min_match=50)
    assert made == [f"{llvm}/clang", *by_folder, "a.o",
                    "-Wl,--startup-profile=p", "-Wl,--front-always", "-Wl,--min-match=50", "-o",
                    "new"]
    made = command("ld.bfd a.o -o app", tmp_path, profile="p")
    assert made == [f"{build}/bin/ld.frontload", "--undefined-version", "a.o",
                    "--startup-profile=p", "--front-always", "-o", "new"]


@pytest.mark.parametrize("option", [
    "-Wl,--symbol-ordering-file=x", "-Wl,--symbol-ordering-file,x",
    "-Wl,--symbol-ordering-file -Wl,x", "-Xlinker --symbol-ordering-file -Xlinker x", "-s",
    "-Wl,-s", "-Wl,-Map=app.map", "-Wl,-Map,app.map", "-Wl,--dependency-file=x.d",
    "-Wl,--startup-profile=old", "-Wl,--startup-profile-dir,old -Wl,--front-prefetch"])
def test_what_orders_strips_or_writes_other_files_is_left_out(tmp_path, tools, option):
    stays = "-Wl,--bp-startup-sort=function"  # orders that lld makes
    made = command(f"gcc a.o {option} {stays} -Wl,-z,now -o app", tmp_path)
    assert made[5:] == ["a.o", stays, "-Wl,-z", "-Wl,now", "-o", "new"]


@pytest.mark.parametrize("option", ["-Wl,-N", "-Wl,-Ttext=0x1000", "-Wl,--unique", "-T x.ld",
                                    "-Wl,-T,x.ld", "-Wl,-Tx.ld", "-Wl,--script=x.ld"])
def test_what_decides_the_layout_is_refused(tmp_path, tools, option):
    (tmp_path / "x.ld").write_text("SECTIONS { .text : { *(.text) } }\n")
    with pytest.raises(Failure) as failed:
        command(f"gcc a.o {option} -o app", tmp_path, profile="p")
    assert failed.value.note
    (tmp_path / "x.ld").write_text("INPUT(a.o)\n")  # hinders nothing
    stay, found = linker_options.separate(linker_options.tokens(["-T", "x.ld"]), str(tmp_path))
    assert not found and [token.text for token in stay] == ["-T", "x.ld"]
