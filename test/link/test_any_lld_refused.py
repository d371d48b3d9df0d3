"""--lld: what cannot be driven is refused with a reason and a remedy, before anything is linked."""

import os
import signal
import threading

import abilities
import pytest
from linking import LD_LLD, MAIN, check_run, compile_text, ld, write_profile


@pytest.fixture
def by_lld(tmp_path, refused):
    """by_lld(lld, *arguments): links by `lld`, which must be refused; returns what it says."""
    profile = write_profile(tmp_path, "main")
    return lambda lld, *arguments, **more: refused(
        f"--startup-profile={profile}", f"--lld={lld}", *arguments, **more)


def script(path, text: str):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(("lld", "message"), [
    ("{folder}/none", "No such file"), ("{folder}", "Permission denied"),
    ("no-such-linker-in-path", "No such file or directory in PATH"),
    # As from a variable of a build that is not set: the built-in one is not meant.
    ("", "--lld: has no value"),
    # It is named by what it says of itself.
    ("ld.bfd", "GNU ld"), ("ld.gold", "GNU gold"), ("true", "not an lld")])
def test_not_an_lld(tmp_path, by_lld, lld, message):
    abilities.need(*([f"program:{lld}"] if lld.startswith("ld.") else []))
    assert message in by_lld(lld.format(folder=tmp_path))


def test_not_executable(tmp_path, by_lld):
    (tmp_path / "lld").write_text("")
    assert "Permission denied" in by_lld(tmp_path / "lld")


def test_too_old(tmp_path, by_lld):
    assert "lld 12" in by_lld(script(tmp_path / "lld", "echo LLD 12.0.1"))


def test_static(tmp_path, by_lld, program):
    """Nothing can be preloaded into it."""
    check_run("gcc", "-static", program, "-o", tmp_path / "lld")
    assert "statically" in by_lld(tmp_path / "lld")


def test_other_architecture(tmp_path, by_lld):
    lld = script(tmp_path / "lld", "")
    content = bytearray(LD_LLD.read_bytes())
    content[18] = 183 if content[18] != 183 else 62  # e_machine
    lld.write_bytes(content)
    assert "architecture" in by_lld(lld)


def test_bitcode(tmp_path, llvm, by_lld):
    """Objects that are made in the link are not there to be planned; also in archives."""
    bitcode = compile_text(tmp_path, "a.c", MAIN, "-flto", compiler="clang")
    assert "LTO" in by_lld(LD_LLD, inputs=[bitcode])
    archive = tmp_path / "a.a"
    check_run(llvm / "llvm-ar", "rcs", archive, bitcode)
    assert "a.a(a.o)" in by_lld(LD_LLD, inputs=[archive])


def test_inputs_that_can_be_read_once(tmp_path, by_lld):
    """Such as <(command) of a shell: the other linker would wait for it for ever."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=("{ global: main; };\n",), daemon=True)
    writer.start()
    assert f"{pipe}: " in by_lld(LD_LLD, f"--version-script={pipe}")
    writer.join()


@pytest.mark.parametrize("flag", ["--reproduce=x.tar", "--fat-lto-objects",
                                  "--call-graph-ordering-file=x", "--bp-startup-sort=function",
                                  "-bp-compression-sort=both"])
def test_options(by_lld, flag):
    """It would ignore them, or order the front as well: there is no hook in it."""
    assert f"cannot be combined with {flag}" in by_lld(LD_LLD, flag)


def test_the_variable_for_reproduce(by_lld, monkeypatch, tmp_path_factory):
    """It stands for the option, and has to go as well."""
    monkeypatch.setenv("LLD_REPRODUCE", str(tmp_path_factory.mktemp("tar") / "x.tar"))
    assert "with LLD_REPRODUCE: " in by_lld(LD_LLD)


@pytest.mark.parametrize(("text", "message"), [
    # It would lay out no front, without a word.
    (f'unset LD_PRELOAD\nexec {LD_LLD} "$@"', "a.o: the linker did not read it as planned"),
    # What was planned for an object is not applied to one that has replaced it.
    (f'[ "$1" = --version ] || touch {{program}}\nexec {LD_LLD} "$@"',
     "it changed during the link"),
    ("echo LLD 22", "a.o: the linker did not read it as planned")])
def test_a_linker_that_does_something_else(tmp_path, by_lld, program, text, message):
    wrapper = script(tmp_path / "wrapper", text.replace("{program}", str(program)))
    assert message in by_lld(wrapper)


def test_a_linker_that_writes_nothing(tmp_path, by_lld):
    """Also if there is nothing that it would have had to read."""
    wrapper = script(tmp_path / "wrapper", "echo LLD 22")
    empty = compile_text(tmp_path, "empty.c", "")
    assert "wrapper: it wrote no output" in by_lld(wrapper, "--min-match=0", inputs=[empty])


def test_a_linker_that_is_killed(tmp_path, by_lld):
    """So is ld.frontload, for whoever looks at how it ended."""
    wrapper = script(tmp_path / "wrapper",
                     '[ "$1" = --version ] && echo LLD 22 || kill -SEGV $$')
    assert "killed by signal 11" in by_lld(wrapper, code=-signal.SIGSEGV)


def test_the_exit_status_is_the_linkers(tmp_path, program):
    wrapper = script(tmp_path / "wrapper", '[ "$1" = --version ] && echo LLD 22 || exit 77')
    ld(program, "-o", tmp_path / "out", f"--lld={wrapper}",
       f"--startup-profile={write_profile(tmp_path, 'main')}", code=77)


def test_a_library_whose_name_begins_with_ld(tmp_path, program):
    """-lld is a library, as it was."""
    said = ld(program, "-o", tmp_path / "out", "-lld", code=1).stderr
    assert "unable to find library -lld" in said
