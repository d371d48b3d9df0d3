"""What cannot be recorded is refused with a remedy, and what goes wrong later does the program no
harm."""

import os
import resource
import shutil
from functools import partial

import pytest
from elftools.elf.elffile import ELFFile
from places import SANITIZED
from recorded import Binary
from trace_decoder import VALGRIND, decode


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
    (["--", "./other"], 126, "a program for another machine (s390); record it there"),
])
def test_refusals(arguments, status, what, recorder, run, tmp_path):
    """Wrong use, and programs that cannot be recorded, are refused before anything runs."""
    (tmp_path / "file").write_text("")
    (tmp_path / "object32").write_bytes(b"\x7fELF\1\1\1" + bytes(100))
    (tmp_path / "object32").chmod(0o755)
    (tmp_path / "other").write_bytes(b"\x7fELF\2\1\1" + bytes(9) + b"\2\0\x16\0" + bytes(100))
    (tmp_path / "other").chmod(0o755)
    result = run(recorder, *arguments, code=status, cwd=tmp_path)
    assert result.stdout == "" and what in result.stderr
    assert result.stderr.startswith("frontload-valgrind: error: ")
    if what.endswith(("cannot be executed", "cannot write traces there")):
        assert "\nfrontload-valgrind: note: " in result.stderr


@pytest.mark.parametrize("rights", ["set-user-id", "set-group-id", "capabilities"])
def test_a_command_with_rights_of_its_own(rights, compile, record, run, tmp_path):
    """Valgrind could not give it these: it is not run without them, and said what to do."""
    program = compile("""
        #include <stdio.h>
        int main(void) { puts("run"); return 0; }""")
    if rights == "capabilities":
        if not shutil.which("setcap"):
            pytest.skip("needs setcap")
        if run("setcap", "cap_net_raw+ep", program, code=None).returncode:
            pytest.skip("needs root, and a file system that keeps capabilities")
    else:
        program.chmod(0o4755 if rights == "set-user-id" else 0o2755)
    recording = record("--", program)
    assert (recording.status, recording.stdout, recording.files) == (126, "", [])
    assert recording.stderr == (
        f"frontload-valgrind: error: {program}: cannot be recorded: it has rights of its own "
        "(set-user-id, set-group-id or capabilities)\n"
        "frontload-valgrind: note: record a copy without them, as the user that has these rights\n")


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
    """One warning; what there was room for, the earliest touches, is in the trace, what is lost is
    counted, and the program goes on with its own status."""
    program = compile("""
        __attribute__((aligned(16))) volatile int my_data[1 << 16];
        int main(void) {
          for (int i = 0; i < 1 << 16; i += 4)
            my_data[i] = 1;
          return 7;
        }""")
    run(recorder, "-o", tmp_path / "whole", "--", program, code=7)
    whole = decode(tmp_path / "whole", VALGRIND)
    disk = tmp_path / "disk"
    disk.mkdir()
    run("mount", "-t", "tmpfs", "-o", "size=64k", "none", disk)
    try:
        result = run(recorder, "-o", disk / "x", "--", program, code=7)
        trace = decode(disk / "x", VALGRIND)
    finally:
        run("umount", disk)
    assert result.stderr == (f"frontload-valgrind: warning: {disk / 'x'}: the trace ends here: No "
                             "space left on device\n")
    assert 3000 < len(trace.events) < 4096
    assert [event[:2] for event in trace.events] == [
        event[:2] for event in whole.events[:len(trace.events)]]
    assert len(trace.events) + trace.dropped == len(whole.events)


def test_a_place_that_is_gone(program, record, tmp_path):
    """A folder that cannot be known beforehand: one warning, and the program runs."""
    recording = record("-o", tmp_path / "none-%p" / "x", "--", program)
    assert recording.status == 5 and recording.files == []
    assert recording.stderr.startswith("frontload-valgrind: warning: ")
    assert recording.stderr.endswith("cannot create the trace: No such file or directory\n")
    assert recording.stderr.count("\n") == 1


def test_a_name_that_is_taken(program, recorder, run, tmp_path):
    """A trace never replaces a file."""
    folder = tmp_path / "taken"
    folder.mkdir()
    (folder / "x").write_text("mine")
    for _ in range(4):
        run(recorder, "-o", folder / "x", "--", program, code=5)
    assert {f.name for f in folder.iterdir()} == {"x", "x.1", "x.2", "x.3", "x.4"}
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


def test_a_program_without_its_section_headers(program, record):
    """It does not need them to run, nor to be recorded."""
    binary = Binary(program)
    with program.open("r+b") as stream:
        stream.seek(0x28)
        stream.write((1 << 40).to_bytes(8, "little"))
    recording = record("--", program)
    assert (recording.status, recording.stderr) == (5, "")
    assert binary["my_data"] + 32 in {address for _, address, _ in recording.trace.events}
    assert recording.trace.main.build_id == binary.build_id


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


def _segment(library, number):
    """Where in an ELF file the header of a loadable segment is."""
    with library.open("rb") as stream:
        elf = ELFFile(stream)
        loadable = [n for n, s in enumerate(elf.iter_segments()) if s["p_type"] == "PT_LOAD"]
        return elf["e_phoff"] + loadable[number] * elf["e_phentsize"]


@pytest.mark.parametrize("size", [1 << 35, (1 << 47) - 1], ids=["32 GiB", "128 TiB"])
def test_a_library_that_says_that_it_is_large(size, compile, record):
    """Whatever memory a file says that it needs, the recorder takes no more than for what it has,
    says so once, and records what is there."""
    library = compile("int my_function(void) { return 3; }", "-shared", "-fPIC", name="libmy.so")
    code = Binary(library)["my_function"] // 4096 * 4096
    user = compile(f"""
        #include <fcntl.h>
        #include <stdio.h>
        #include <sys/mman.h>
        #include <sys/resource.h>
        int main(int argc, char **argv) {{
          int file = open(argv[argc - 1], O_RDONLY);
          char *code = mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, {code});
          if (code == MAP_FAILED)
            return 4;
          struct rusage usage;
          getrusage(RUSAGE_SELF, &usage);
          printf("%ld", usage.ru_maxrss);
          return ((int (*)(void))(code + {Binary(library)["my_function"] - code}))();
        }}""", name="user")
    with library.open("r+b") as stream:
        stream.seek(_segment(library, 1) + 40)  # p_memsz
        stream.write(size.to_bytes(8, "little"))
    recording = record(f"--module={library}", "--", user, library)
    assert recording.status == 3
    assert "its headers say that it needs more memory" in recording.stderr
    assert recording.stderr.count("\n") == 1
    assert Binary(library).touches(recording.trace) == ["my_function"]
    assert int(recording.stdout) < 400_000  # KiB


def test_a_library_whose_code_is_nowhere(compile, record):
    """A file that says that its code is not where a page of it could be mapped is not recorded: no
    loader maps it, and granules are counted from the beginning of a module."""
    library = compile("int my_function(void) { return 3; }", "-shared", "-fPIC", name="libmy.so")
    code = Binary(library)["my_function"] // 4096 * 4096
    user = compile(f"""
        #include <fcntl.h>
        #include <sys/mman.h>
        int main(int argc, char **argv) {{
          int file = open(argv[argc - 1], O_RDONLY);
          char *code = mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, {code});
          if (code == MAP_FAILED)
            return 4;
          return ((int (*)(void))(code + {Binary(library)["my_function"] - code}))();
        }}""", name="user")
    with library.open("r+b") as stream:
        stream.seek(_segment(library, 1) + 16)  # p_vaddr
        stream.write((code + 8).to_bytes(8, "little"))
    recording = record("--module=libmy", "--", user, library)
    assert recording.status == 3
    assert recording.stderr == ("frontload-valgrind: warning: --module=libmy: the program did not "
                                "load it\n")
    assert [module.path for module in recording.trace.modules.values()] == [str(user)]


@pytest.mark.skipif(SANITIZED, reason="a sanitizer needs more addresses")
def test_a_library_that_says_that_it_has_many_symbols(compile, record):
    """A symbol table is not looked into that is larger than its file: there would be no memory for
    it."""
    library = compile("int my_function(void) { return 0; }", "-shared", "-fPIC", name="libmy.so")
    user = compile("int my_function(void); int main(void) { return my_function() + 3; }", library,
                   f"-Wl,-rpath,{library.parent}", name="user")
    with library.open("r+b") as stream:
        elf = ELFFile(stream)
        at = elf["e_shoff"] + elf.get_section_index(".symtab") * elf["e_shentsize"]
        stream.seek(at + 32)  # sh_size
        stream.write((1 << 30).to_bytes(8, "little"))
    # Enough for Valgrind and the recorder, which reserve 4 GiB of addresses.
    limited = partial(resource.setrlimit, resource.RLIMIT_AS, (5000 << 20, 5000 << 20))
    recording = record("--module=libmy", "--until=none", "--", user, preexec_fn=limited)
    assert recording.status == 3
    assert recording.stderr == ("frontload-valgrind: warning: --until=none: no recorded module has "
                                "a function of this name\n")


def test_a_file_beside_the_program(compile, record):
    """What a program makes beside itself, by the place that the kernel names, is there when the
    recording is over; debug info or not."""
    program = compile("""
        #include <fcntl.h>
        #include <stdio.h>
        #include <string.h>
        #include <unistd.h>
        int main(void) {
          char path[4096] = {0};
          if (readlink("/proc/self/exe", path, sizeof path - 20) < 0)
            return 1;
          strcpy(strrchr(path, '/'), "/made");
          return open(path, O_CREAT | O_EXCL | O_WRONLY, 0600) < 0 ? 2 : 0;
        }""", "-g", name="bin/program")
    recording = record("--", program)
    assert (recording.status, recording.stderr) == (0, "")
    assert sorted(file.name for file in program.parent.iterdir()) == [
        "made", "program", "program.c"]
