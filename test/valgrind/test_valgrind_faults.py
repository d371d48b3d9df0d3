"""What cannot be recorded is refused with a remedy, and what goes wrong later does the program no
harm."""

import resource
import shutil
from functools import partial

import pytest
from abilities import needs
from elftools.elf.elffile import ELFFile
from grown import SYMTAB, same_place
from recorded import Binary


def test_no_valgrind(program, record, tmp_path):
    """Without valgrind the program is not run, and the package is named."""
    recording = record("--", program, env={"PATH": str(tmp_path)})
    assert recording.status == 125
    assert recording.stderr == ("frontload-valgrind: error: valgrind: not found\n"
                                "frontload-valgrind: note: install it: apt-get install valgrind\n")


def test_no_tool(recorder, run, tmp_path):
    """Packages of static programs leave the tool to one under the GPL."""
    alone = shutil.copy(recorder, tmp_path)
    result = run(alone, "--", "true", code=125)
    assert "valgrind: not found: the tool has a package of its own\n" in result.stderr
    assert "note: install the package frontload-valgrind, or unpack " in result.stderr


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
    for name, contents, mode in (
            ("file", b"", 0o644), ("object32", b"\x7fELF\1\1\1" + bytes(100), 0o755),
            ("other", b"\x7fELF\2\1\1" + bytes(9) + b"\2\0\x16\0" + bytes(100), 0o755)):
        (tmp_path / name).write_bytes(contents)
        (tmp_path / name).chmod(mode)
    result = run(recorder, *arguments, code=status, cwd=tmp_path)
    assert result.stdout == "" and what in result.stderr
    assert result.stderr.startswith("frontload-valgrind: error: ")
    if what.endswith(("cannot be executed", "cannot write traces there")):
        assert "\nfrontload-valgrind: note: " in result.stderr


def test_a_loader(program, record):
    """ld.so would be recorded in place of the program that it runs."""
    with open(program, "rb") as stream:
        loader = next(segment.get_interp_name() for segment in ELFFile(stream).iter_segments()
                      if segment["p_type"] == "PT_INTERP")
    recording = record("--", loader, program)
    assert recording.status == 126 and ": cannot be recorded: a loader\n" in recording.stderr


@pytest.mark.parametrize("rights", [
    "set-user-id", "set-group-id", pytest.param("capabilities", marks=needs("capabilities"))])
def test_a_command_with_rights_of_its_own(rights, program, record, run):
    """Valgrind could not give it these: it is not run without them, and said what to do."""
    if rights == "capabilities":
        run("setcap", "cap_net_raw+ep", program)
    else:
        program.chmod(0o4755 if rights == "set-user-id" else 0o2755)
    recording = record("--", program)
    assert (recording.status, recording.files) == (126, [])
    assert recording.stderr == (
        f"frontload-valgrind: error: {program}: cannot be recorded: it has rights of its own "
        "(set-user-id, set-group-id or capabilities)\n"
        "frontload-valgrind: note: record a copy without them, as the user that has these rights\n")


def test_settings_of_the_user(program, record):
    """What the user has set for valgrind is for other tools."""
    recording = record("--", program, env={"VALGRIND_OPTS": "--tool=none --nonsense"})
    assert (recording.status, recording.stderr) == (5, "")


def test_a_place_that_is_gone(program, record, tmp_path):
    """A folder that cannot be known beforehand: one warning, and the program runs."""
    recording = record("-o", tmp_path / "none-%p" / "x", "--", program)
    assert recording.status == 5 and recording.files == []
    assert recording.stderr.startswith("frontload-valgrind: warning: ")
    assert recording.stderr.endswith("cannot create the trace: No such file or directory\n")
    assert recording.stderr.count("\n") == 1


def test_a_name_that_is_taken(program, record, tmp_path):
    """A trace never replaces a file."""
    taken = tmp_path / "traces/x"
    taken.parent.mkdir(exist_ok=True)
    taken.write_text("mine")
    for _ in range(2):
        files = record("-o", taken, "--", program).files
    assert [file.name for file in files] == ["x", "x.1", "x.2"]
    assert taken.read_text() == "mine"


def patch(path, offset, contents):
    with path.open("r+b") as stream:
        stream.seek(offset)
        stream.write(contents)


def patch_word(path, offset, value):
    patch(path, offset, value.to_bytes(8, "little"))


def test_a_program_without_its_section_headers(program, record):
    """It does not need them to run, nor to be recorded."""
    binary = Binary(program)
    patch_word(program, 0x28, 1 << 40)
    recording = record("--", program)
    assert (recording.status, recording.stderr) == (5, "")
    assert binary["my_data"] + 32 in recording.trace.addresses()
    assert recording.trace.main.build_id == binary.build_id


@pytest.mark.parametrize("damage", [(0x28, b"\xff" * 8), (0x20, b"\xff" * 8), (0x3c, b"\xff\xff")],
                         ids=["section headers", "program headers", "number of sections"])
def test_a_damaged_library(damage, compile, library, record):
    """A library whose headers point nowhere is not recorded, or without what they would tell."""
    user = compile("int main(int c, char **v) { return c * 0 +"
                   "(fopen(v[1], \"r\") ? 3 : 4); }", name="user")
    patch(library, *damage)
    assert record(f"--module={library}", "--until=none", "--", user, library).status == 3


def code_segment(library):
    """Where in an ELF file the header of its code is."""
    with library.open("rb") as stream:
        elf = ELFFile(stream)
        code = next(n for n, s in enumerate(elf.iter_segments())
                    if s["p_type"] == "PT_LOAD" and s["p_flags"] & 1)
        return elf["e_phoff"] + code * elf["e_phentsize"]


@pytest.fixture
def maps_code(compile):
    """A library, and a program that maps the page of its function itself, prints how much memory it
    takes, and calls it."""
    library = compile("int my_function(void) { return 3; }", "-shared", "-fPIC", name="libmy.so")
    function = Binary(library)["my_function"]
    page, offset = function // 4096 * 4096, function % 4096
    user = compile(f"""
        int main(int argc, char **argv) {{
          int file = open(argv[argc - 1], O_RDONLY);
          char *code = mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, {page});
          if (code == MAP_FAILED)
            return 4;
          char line[200]; /* not ru_maxrss, which begins with that of who has started it */
          for (FILE *status = fopen("/proc/self/status", "r"); fgets(line, sizeof line, status);)
            if (strncmp(line, "VmHWM:", 6) == 0)
              printf("%ld", atol(line + 6));
          return ((int (*)(void))(code + {offset}))();
        }}""", name="user")
    return library, user, page


@pytest.mark.parametrize(("at", "value", "said", "touched"), [
    (40, lambda page: 1 << 35, "its headers say that it needs more memory", ["my_function"]),
    (40, lambda page: (1 << 47) - 1, "its headers say that it needs more memory", ["my_function"]),
    (16, lambda page: page + 8, "--module=libmy: the program did not load it", [])],
    ids=["32 GiB", "128 TiB", "nowhere"])
def test_a_library_that_says_where_it_cannot_be(at, value, said, touched, maps_code, record):
    """Whatever memory a file says that it needs, the recorder takes no more than for what it has,
    says so once, and records what is there. One that says that its code is not where a page of it
    could be mapped is not recorded: no loader maps it."""
    library, user, page = maps_code
    patch_word(library, code_segment(library) + at, value(page))  # p_memsz, p_vaddr
    recording = record("--module=libmy", "--", user, library)
    assert recording.status == 3
    assert said in recording.stderr and recording.stderr.count("\n") == 1
    modules = {module.path for module in recording.trace.modules.values()}
    assert modules == {str(user), *[str(library)] * len(touched)}
    assert not touched or Binary(library).touches(recording.trace) == touched
    assert int(recording.stdout) < 400_000  # KiB


def test_a_symbol_table_that_is_larger_than_its_file(library, compile, record):
    """It is not looked into: there would be no memory for it."""
    user = compile("int my_function(void); int main(void) { return my_function(); }", library,
                   f"-Wl,-rpath,{library.parent}", name="user")
    library = library.rename(library.with_name("libmy.so.1"))
    with library.open("rb") as stream:
        elf = ELFFile(stream)
        at = elf["e_shoff"] + elf.get_section_index(".symtab") * elf["e_shentsize"]
    patch_word(library, at + 32, 1 << 30)  # sh_size
    # Enough for Valgrind and its tool, which reserves 4 GiB of addresses.
    limited = ["sh", "-c", f'ulimit -v {5000 << 10} && exec "$0"', user]
    recording = record("--module=libmy", "--until=none", "--", *limited)
    assert recording.status == 3
    assert set(recording.stderr.splitlines()) == {
        "frontload-valgrind: warning: --until=none: no recorded module has a function of this name"}


def test_symbol_tables_in_one_place(program, record):
    """A function that --until names is looked for in 24 megabytes, not in 60,000 times as many,
    although all tables of the file say that they are there."""
    binary = Binary(program)
    same_place(SYMTAB, 0, bytes(24), 1_000_000, 60_000)(program)
    recording = record("--until=no_function", "--", program, preexec_fn=partial(
        resource.setrlimit, resource.RLIMIT_CPU, (60, 60)))
    assert recording.status == 5
    assert binary.touches(recording.trace) == ["main", "my_data+32"]
