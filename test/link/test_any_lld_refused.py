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
    ("{folder}/not-executable", "Permission denied"),
    ("no-such-linker-in-path", "No such file or directory in PATH"),
    # As from a variable of a build that is not set: the built-in one is not meant.
    ("", "--lld: has no value"),
    # It is named by what it says of itself.
    ("ld.bfd", "GNU ld"), ("true", "not an lld"), ("{folder}/old", "lld 12"),
    # Nothing can be preloaded into these.
    ("{folder}/static", "statically"), ("{folder}/foreign", "architecture")])
def test_not_an_lld(tmp_path, by_lld, program, lld, message):
    abilities.need(*([f"program:{lld}"] if lld.startswith("ld.") else []))
    (tmp_path / "not-executable").write_text("")
    script(tmp_path / "old", "echo LLD 12.0.1")
    check_run("gcc", "-static", program, "-o", tmp_path / "static")
    content = bytearray(LD_LLD.read_bytes())
    content[18] = 183 if content[18] != 183 else 62  # e_machine
    script(tmp_path / "foreign", "").write_bytes(content)
    assert message in by_lld(lld.format(folder=tmp_path))


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
                                  "-bp-compression-sort=both", "LLD_REPRODUCE"])
def test_options(by_lld, monkeypatch, tmp_path_factory, flag):
    """It would ignore them, or order the front as well: there is no hook in it. The variable stands
    for the option."""
    if flag == "LLD_REPRODUCE":
        monkeypatch.setenv(flag, str(tmp_path_factory.mktemp("tar") / "x.tar"))
        assert f"with {flag}: " in by_lld(LD_LLD)
    else:
        assert f"cannot be combined with {flag}" in by_lld(LD_LLD, flag)


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


@pytest.mark.parametrize(("end", "code"), [("kill -SEGV $$", -signal.SIGSEGV), ("exit 77", 77)])
def test_a_linker_that_fails(tmp_path, program, end, code):
    """So does ld.frontload, for whoever looks at how it ended."""
    wrapper = script(tmp_path / "wrapper", f'[ "$1" = --version ] && echo LLD 22 || {end}')
    said = ld(program, "-o", tmp_path / "out", f"--lld={wrapper}",
              f"--startup-profile={write_profile(tmp_path, 'main')}", code=code).stderr
    assert ("killed by signal 11" in said) == (code < 0)
    assert not (tmp_path / "out").exists()


def test_a_library_whose_name_begins_with_ld(tmp_path, program):
    """-lld is a library, as it was."""
    said = ld(program, "-o", tmp_path / "out", "-lld", code=1).stderr
    assert "unable to find library -lld" in said
