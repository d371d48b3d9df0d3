"""What cannot be recorded is refused with a remedy, and what goes wrong later does the program no
harm."""

import os
import shutil

import pytest
from recorded import Binary
from trace_decoder import DATA, VALGRIND, decode


@pytest.fixture
def program(compile):
    return compile("int my_data[64] = {1}; int main(void) { return my_data[9] + 5; }")


def test_no_valgrind(program, record, tmp_path):
    """Without valgrind the program is not run, and the package is named."""
    recording = record("--", program, env={"PATH": str(tmp_path)})
    assert recording.status == 125
    assert recording.stderr == ("frontload-valgrind: error: valgrind: not found\n"
                                "frontload-valgrind: note: install it: apt-get install valgrind\n")


@pytest.mark.parametrize(("arguments", "status", "what"), [
    (["--"], 2, "no command was given"),
    (["stray", "--", "true"], 2, "'stray': is not an option"),
    (["--nonsense", "--", "true"], 2, "Unknown command line argument '--nonsense'"),
    (["-o", "x%q", "--", "true"], 2, "'%q' has no meaning"),
    (["--for=0", "--", "true"], 2, "--for: not a number of seconds above 0"),
    (["-o", "none/x", "--", "true"], 125, "none: cannot write traces there"),
    (["--", "./none"], 127, "./none: cannot be executed"),
    (["--", "none-in-path"], 127, "none-in-path: cannot be executed"),
    (["--", "./file"], 126, "./file: cannot be executed"),
    (["--", "./object32"], 126, "a 32-bit program"),
])
def test_refusals(arguments, status, what, recorder, run, tmp_path):
    """Wrong use, and programs that cannot be recorded, are refused before anything runs."""
    (tmp_path / "file").write_text("")
    (tmp_path / "object32").write_bytes(b"\x7fELF\1\1\1" + bytes(100))
    (tmp_path / "object32").chmod(0o755)
    result = run(recorder, *arguments, code=status, cwd=tmp_path)
    assert result.stdout == "" and what in result.stderr
    assert result.stderr.startswith("frontload-valgrind: error: ")
    if what.endswith(("cannot be executed", "cannot write traces there")):
        assert "\nfrontload-valgrind: note: " in result.stderr


def test_settings_of_the_user(compile, record, tmp_path):
    """What the user has set for valgrind is for other tools."""
    recording = record("--", compile("int main(void) { return 0; }"),
                       env={"VALGRIND_OPTS": "--tool=none --nonsense"})
    assert (recording.status, recording.stderr) == (0, "")


def test_frontload_record_data(compile, frontload, tmp_path):
    """`frontload record --data` makes traces of which `frontload profile` makes a profile."""
    program = compile("int my_data[64] = {1}; int main(void) { return my_data[9] + 5; }")
    frontload("record", "--data", "-o", tmp_path / "traces", "--", program, code=5)
    frontload("profile", tmp_path / "traces", "-o", tmp_path / "profile")
    lines = (tmp_path / "profile").read_text()
    assert "main" in lines and "my_data" in lines


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to mount a small file system")
def test_full_disk(compile, recorder, run, tmp_path):
    """One warning; what there was room for is in the trace, what is lost is counted, and the
    program goes on with its own status."""
    program = compile("""
        __attribute__((aligned(16))) volatile int my_data[1 << 16];
        int main(void) {
          for (int i = 0; i < 1 << 16; i += 4)
            my_data[i] = 1;
          return 7;
        }""")
    disk = tmp_path / "disk"
    disk.mkdir()
    run("mount", "-t", "tmpfs", "-o", "size=64k", "none", disk)
    try:
        result = run(recorder, "-o", disk / "x", "--", program, code=7)
        trace = decode(disk / "x", VALGRIND)
    finally:
        run("umount", disk)
    assert result.stderr == (f"frontload-valgrind: warning: {disk / 'x'}: the trace ends here: it "
                             "cannot be written\n")
    assert 3000 < len(trace.events) < 4096
    touched = (1 << 14) + len([k for k in trace.kinds if k != DATA])
    assert touched - 100 < len(trace.events) + trace.dropped < touched + 500


def test_a_place_that_is_gone(program, record, tmp_path):
    """A folder that cannot be known beforehand: one warning, and the program runs."""
    recording = record("-o", tmp_path / "none-%p" / "x", "--", program)
    assert recording.status == 5 and recording.files == []
    assert recording.stderr.startswith("frontload-valgrind: warning: ")
    assert "cannot create the trace" in recording.stderr and recording.stderr.count("\n") == 1


def test_a_name_that_is_taken(program, recorder, run, tmp_path):
    """A trace never replaces a file."""
    folder = tmp_path / "taken"
    folder.mkdir()
    (folder / "x").write_text("mine")
    for _ in range(2):
        run(recorder, "-o", folder / "x", "--", program, code=5)
    assert {f.name for f in folder.iterdir()} == {"x", "x.1", "x.2"}
    assert (folder / "x").read_text() == "mine"


def test_a_program_that_closes_all_descriptors(compile, touches):
    """The trace's is not among those that it has."""
    assert touches(compile("""
        #include <unistd.h>
        __attribute__((aligned(16))) volatile int my_data[4];
        int main(void) {
          for (int i = 0; i < 10000; ++i)
            if (close(i) == 0 && i > 2)
              return 1;
          my_data[0] = 1;
          return 0;
        }""")) == ["main", "my_data+0"]


def test_a_stripped_program(compile, run, llvm, record):
    """No symbol is needed to record."""
    program = compile("int my_data[64] = {1}; int main(void) { return my_data[9] + 5; }")
    binary = Binary(program)
    copy = program.with_name("stripped")
    shutil.copy(program, copy)
    run(llvm / "llvm-strip", copy)
    recording = record("--", copy)
    assert recording.status == 5
    assert binary["my_data"] + 32 in {address for _, address, _ in recording.trace.events}


@pytest.mark.parametrize("damage", [(0x28, b"\xff" * 8), (0x20, b"\xff" * 8), (0x3c, b"\xff\xff")],
                         ids=["section headers", "program headers", "number of sections"])
def test_a_damaged_library(damage, compile, record):
    """A library whose headers point nowhere is not recorded, or without what they would tell."""
    library = compile("int my_function(void) { return 0; }", "-shared", "-fPIC", name="libmy.so")
    user = compile("#include <stdio.h>\nint main(int c, char **v) { (void)c;"
                   "return fopen(v[1], \"r\") ? 3 : 4; }", name="user")
    offset, contents = damage
    with library.open("r+b") as stream:
        stream.seek(offset)
        stream.write(contents)
    assert record(f"--module={library}", "--until=none", "--", user, library).status == 3
