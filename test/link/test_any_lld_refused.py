"""--lld: what cannot be driven is refused with a reason and a remedy, before anything is linked."""

import os
import shutil
import signal
import subprocess
import threading

import pytest
from linking import LD_FRONTLOAD, check_run, compile_text, ld, write_profile
from other_lld import other_lld


@pytest.fixture
def program(tmp_path):
    return compile_text(tmp_path, "a.c", "int main(void) { return 0; }\n")


def refused(tmp_path, program, lld, *flags, code: int = 2) -> str:
    """Links by `lld`, which must be refused; the previous output stays."""
    output = tmp_path / "out"
    output.write_text("precious")
    before = sorted(os.listdir(tmp_path))
    profile = write_profile(tmp_path, "main")
    before = sorted({*before, profile.name})
    result = ld(program, "-o", output, "-e", "main", f"--startup-profile={profile}",
                f"--lld={lld}", *flags, code=code)
    assert output.read_text() == "precious"
    assert sorted(os.listdir(tmp_path)) == before
    lines = result.stderr.splitlines()
    assert lines[0].startswith("ld.frontload: error: ")
    assert len(lines) == 2 and lines[1].startswith("ld.frontload: note: ")
    return lines[0]


def test_no_such_file(tmp_path, program):
    assert "No such file" in refused(tmp_path, program, tmp_path / "none")
    message = refused(tmp_path, program, "no-such-linker-in-path")
    assert "No such file or directory in PATH" in message


def test_no_value(tmp_path, program):
    """As from a variable of a build that is not set: the built-in one is not meant."""
    assert "--lld: has no value" in refused(tmp_path, program, "")


def test_not_executable(tmp_path, program):
    (tmp_path / "lld").write_text("")
    assert "Permission denied" in refused(tmp_path, program, tmp_path / "lld")
    assert "Permission denied" in refused(tmp_path, program, tmp_path)


@pytest.mark.parametrize("name, answer", [("ld.bfd", "GNU ld"), ("ld.gold", "GNU gold"),
                                          ("true", "not an lld")])
def test_not_an_lld(tmp_path, program, name, answer):
    """It is named by what it says of itself."""
    assert shutil.which(name)
    assert answer in refused(tmp_path, program, name)


def test_too_old(tmp_path, program):
    lld = tmp_path / "lld"
    lld.write_text("#!/bin/sh\necho LLD 12.0.1\n")
    lld.chmod(0o755)
    assert "lld 12" in refused(tmp_path, program, lld)


def test_static(tmp_path, program):
    """Nothing can be preloaded into it."""
    source = tmp_path / "b.c"
    source.write_text("int main(void) { return 0; }\n")
    check_run("gcc", "-static", source, "-o", tmp_path / "lld")
    assert "statically" in refused(tmp_path, program, tmp_path / "lld")


def test_other_architecture(tmp_path, program):
    lld = tmp_path / "lld"
    content = bytearray(other_lld("22").read_bytes())
    content[18] = 183 if content[18] != 183 else 62  # e_machine
    lld.write_bytes(content)
    lld.chmod(0o755)
    assert "architecture" in refused(tmp_path, program, lld)


def test_bitcode(tmp_path, llvm):
    """Objects that are made in the link are not there to be planned; also in archives."""
    source = tmp_path / "a.c"
    source.write_text("int main(void) { return 0; }\n")
    bitcode = tmp_path / "a.o"
    check_run(llvm / "clang", "-flto", "-c", source, "-o", bitcode)
    assert "LTO" in refused(tmp_path, bitcode, other_lld("22"))
    archive = tmp_path / "a.a"
    check_run(llvm / "llvm-ar", "rcs", archive, bitcode)
    assert "a.a(a.o)" in refused(tmp_path, archive, other_lld("22"))


def test_inputs_that_can_be_read_once(tmp_path, program):
    """Such as <(command) of a shell: the other linker would wait for it for ever."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=("{ global: main; };\n",), daemon=True)
    writer.start()
    assert f"{pipe}: " in refused(tmp_path, program, other_lld("22"), f"--version-script={pipe}")
    writer.join()


@pytest.mark.parametrize("flag", ["--reproduce=x.tar", "--fat-lto-objects"])
def test_options(tmp_path, program, flag):
    assert flag in refused(tmp_path, program, other_lld("22"), flag)


def test_the_variable_for_reproduce(tmp_path, program, monkeypatch, tmp_path_factory):
    """It stands for the option, and has to go as well."""
    monkeypatch.setenv("LLD_REPRODUCE", str(tmp_path_factory.mktemp("tar") / "x.tar"))
    assert "with LLD_REPRODUCE: " in refused(tmp_path, program, other_lld("22"))


def test_a_linker_that_loads_no_libraries(tmp_path, program):
    """It would lay out no front, without a word."""
    wrapper = tmp_path / "wrapper"
    wrapper.write_text(f'#!/bin/sh\nunset LD_PRELOAD\nexec {other_lld("22")} "$@"\n')
    wrapper.chmod(0o755)
    assert "a.o: the linker did not read it as planned" in refused(tmp_path, program, wrapper)


def test_inputs_that_change(tmp_path, program):
    """What was planned for an object that another one has replaced is not applied to that one."""
    wrapper = tmp_path / "wrapper"
    wrapper.write_text(f'#!/bin/sh\n[ "$1" = --version ] || touch {program}\n'
                       f'exec {other_lld("22")} "$@"\n')
    wrapper.chmod(0o755)
    assert "it changed during the link" in refused(tmp_path, program, wrapper)


def test_a_linker_that_is_killed(tmp_path, program):
    """So is ld.frontload, for whoever looks at how it ended."""
    wrapper = tmp_path / "wrapper"
    wrapper.write_text('#!/bin/sh\n[ "$1" = --version ] && echo LLD 22 || kill -SEGV $$\n')
    wrapper.chmod(0o755)
    assert "killed by signal 11" in refused(tmp_path, program, wrapper, code=-signal.SIGSEGV)


def test_the_exit_status_is_the_linkers(tmp_path, program):
    wrapper = tmp_path / "wrapper"
    wrapper.write_text('#!/bin/sh\n[ "$1" = --version ] && echo LLD 22 || exit 77\n')
    wrapper.chmod(0o755)
    profile = write_profile(tmp_path, "main")
    ld(program, "-o", tmp_path / "out", f"--startup-profile={profile}", f"--lld={wrapper}", code=77)


def test_a_linker_that_writes_nothing(tmp_path, program):
    """Also if there is nothing that it would have had to read."""
    wrapper = tmp_path / "wrapper"
    wrapper.write_text("#!/bin/sh\necho LLD 22\n")
    wrapper.chmod(0o755)
    empty = compile_text(tmp_path, "empty.c", "")
    (tmp_path / "out").write_text("precious")
    result = ld(empty, "-o", tmp_path / "out", "--min-match=0", f"--lld={wrapper}",
                f"--startup-profile={write_profile(tmp_path, 'main')}", code=2)
    assert "wrapper: it wrote no output" in result.stderr
    assert (tmp_path / "out").read_text() == "precious"


def test_a_library_whose_name_begins_with_ld(tmp_path, program):
    """-lld is a library, as it was."""
    result = subprocess.run([LD_FRONTLOAD, program, "-o", tmp_path / "out", "-lld"],
                            capture_output=True, text=True)
    assert "unable to find library -lld" in result.stderr
