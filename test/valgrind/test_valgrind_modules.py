"""Shared libraries, where they are and what they are called; programs with debug info."""

import os
import shutil

import pytest
from abilities import needs
from recorded import Binary
from trace_decoder import VALGRIND, decode

USER = """
    extern int my_data[16];
    int my_function(void);
    int main(void) { return my_function() + ((volatile int *)my_data)[8]; }
    """
TOUCHED = ["my_function", "my_table+16", "my_data+32"]


def said_of(*modules):
    return "".join(f"frontload-valgrind: warning: --module={module}: the program did not load it\n"
                   for module in modules)


@pytest.mark.parametrize("name", ["libreal", "libreal.so.1", "libmy.so", "path", None])
def test_library(name, library, compile, record, tmp_path):
    """--module records a library that the program needs, by file name, soname or path, in the
    program's trace: its code, and its data whoever touches it. Without it only the program is
    recorded."""
    real, link = tmp_path / "libreal.so.1.2", tmp_path / "libmy.so.1"
    program = compile(USER, library, f"-Wl,-rpath,{tmp_path}", "-fPIC", name="user")
    library.rename(real)
    link.symlink_to(real)
    option = [f"--module={link if name == 'path' else name}"] if name else []
    recording = record(*option, "--", program)
    assert (recording.status, recording.stderr) == (3, "")
    assert {m.path: m.build_id for m in recording.trace.modules.values()} == {
        str(p): Binary(p).build_id for p in [program, real][:2 if name else 1]}
    assert not name or Binary(real).touches(recording.trace) == TOUCHED


def test_modules_that_are_not_seen(library, compile, record, tmp_path):
    """However many are asked for, each is recorded, or said not to have been loaded; also what is
    no library, but a pipe."""
    program = compile(USER, library, f"-Wl,-rpath,{tmp_path}", "-fPIC", name="user")
    library.rename(tmp_path / "libmy.so.1")
    os.mkfifo(tmp_path / "pipe")
    others = [*(f"libnone{number}" for number in range(300)), str(tmp_path / "pipe")]
    recording = record(*[f"--module={other}" for other in others], "--module=libmy", "--", program)
    assert (recording.status, recording.stderr) == (3, said_of(*others))
    assert Binary(tmp_path / "libmy.so.1").touches(recording.trace) == TOUCHED


OPENER = """
    /* Calls the function, touches a granule of the data. Returns where the library is. */
    static void *use(void *library, int granule) {
      struct link_map *map;
      if (!library || dlinfo(library, RTLD_DI_LINKMAP, &map))
        exit(2);
      ((int (*)(void))dlsym(library, "my_function"))();
      ((volatile int *)dlsym(library, "my_data"))[4 * granule] = 1;
      return (void *)map->l_addr;
    }
    """


@pytest.mark.parametrize("identity", ["build-id", "name"])
def test_reloaded_library(identity, library, compile, run, record, tmp_path):
    """A library that is closed and opened at another address is the same module, by its build-id
    or, without one, by its name: what was touched is not touched again, what was not is recorded. A
    copy of it is the same module by its build-id only."""
    if identity == "name":
        run("objcopy", "--remove-section=.note.gnu.build-id", library)
    copy = shutil.copy(library, tmp_path / "libcopy.so")
    program = compile(OPENER + """
        int main(int argc, char **argv) {
          void *place = NULL;
          for (int i = 0; i < argc - 1; ++i) {
            void *library = dlopen(argv[1 + i], RTLD_NOW);
            void *found = use(library, i);
            if (found == place)
              return 3;
            place = found;
            dlclose(library);
            if (mmap(place, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
                place)
              return 4;
          }
          return 0;
        }""", "-ldl", name="opener")
    recording = record("--module=libmy", "--module=libcopy", "--", program, library, library, copy)
    assert (recording.status, recording.stderr) == (0, "")
    modules = [module for module in recording.trace.modules.values() if not module.is_main]
    binary = Binary(library)
    assert bool(binary.build_id) == (identity == "build-id")
    first = ["my_function", "my_table+16", "my_data+0", "my_data+16"]
    if identity == "build-id":
        assert [(m.path, m.build_id) for m in modules] == [(str(library), binary.build_id)]
        assert binary.touches(recording.trace) == [*first, "my_data+32"]
    else:
        assert [(m.path, m.build_id) for m in modules] == [(str(library), ""), (str(copy), "")]
        assert binary.touches(recording.trace) == first
        assert Binary(copy).touches(recording.trace) == TOUCHED


def test_another_library_in_the_same_place(compile, record):
    """A library that is opened where another one was is recorded as itself, and so is the first one
    when it comes back: what was touched of it is not touched again."""
    one, two = (compile(f"""
        __attribute__((aligned(16))) int my_data[16] = {{1}};
        int my_own_{name}(void) {{ return 0; }}
        int my_function(void) {{ return 0; }}""", "-shared", "-fPIC", name=f"lib{name}.so")
                for name in ("one", "two"))
    program = compile(OPENER + """
        int main(int argc, char **argv) {
          void *library = dlopen(argv[1], RTLD_NOW);
          void *place = use(library, 0);
          dlclose(library);
          library = dlopen(argv[2], RTLD_NOW);
          if (use(library, 1) != place)
            return argc;
          dlclose(library);
          library = dlopen(argv[1], RTLD_NOW);
          ((int (*)(void))dlsym(library, "my_own_one"))();
          return use(library, 2) != place ? argc : 0;
        }""", "-ldl", name="opener")
    recording = record("--module=libone", "--module=libtwo", "--", program, one, two)
    assert (recording.status, recording.stderr) == (0, "")
    assert [m.path for m in recording.trace.modules.values()] == [str(program), str(one), str(two)]
    assert Binary(one).touches(recording.trace) == ["my_function", "my_data+0", "my_own_one",
                                                    "my_data+32"]
    assert Binary(two).touches(recording.trace) == ["my_function", "my_data+16"]


def test_library_that_is_loaded_twice(library, compile, record):
    """Two instances of a library at the same time are one module, in which a granule counts once;
    so they are in a child, and when one of them is opened again."""
    program = compile(OPENER + """
        int main(int argc, char **argv) {
          void *first = dlopen(argv[argc - 1], RTLD_NOW);
          void *second = dlmopen(LM_ID_NEWLM, argv[1], RTLD_NOW);
          if (use(first, 0) == use(second, 0))
            return 3;
          use(second, 1);
          use(first, 1);
          if (fork() == 0) {
            use(first, 2);
            dlclose(second);
            second = dlmopen(LM_ID_NEWLM, argv[1], RTLD_NOW);
            use(second, 2);
            use(second, 3);
            _exit(0);
          }
          int status;
          return wait(&status) < 0 || status;
        }""", "-ldl", name="opener")
    recording = record("--module=libmy", "--", program, library)
    assert (recording.status, recording.stderr) == (0, "")
    assert sorted(Binary(library).touches(trace) for trace in recording.traces) == [
        ["my_function", "my_table+16", "my_data+0", "my_data+16"],
        ["my_function", "my_table+16", "my_data+32", "my_data+48"]]


@pytest.mark.parametrize("who", ["the program", "what executes it"])
def test_a_path_from_the_first_folder(who, library, compile, record, tmp_path):
    """A path leads from where the recorder was started, wherever the program has gone since."""
    program = compile("""
        int main(int argc, char **argv) {
          if (argc > 2 && chdir(argv[2]))
            return 1;
          return ((int (*)(void))dlsym(dlopen(argv[1], RTLD_NOW), "my_function"))();
        }""", "-ldl", name="opener")
    command = {"the program": [program, library, "/"],
               "what executes it": ["sh", "-c", 'cd / && exec "$0" "$1"', program, library]}[who]
    recording = record("--module=./libmy.so", "--", *command, cwd=tmp_path)
    assert (recording.status, recording.stderr) == (3, "")
    (trace,) = recording.of(program)
    assert Binary(library).touches(trace) == ["my_function", "my_table+16"]


@needs("root", "mounts")
def test_files_in_the_root_folder(library, compile, recorder, run, tmp_path):
    """Programs and libraries that lie directly in the root folder, as in many containers, have
    names as those in any other."""
    compile(USER, library, "-Wl,-rpath,/", name="user")
    library.rename(tmp_path / "libmy.so.1")
    for folder in ("root", "traces"):
        (tmp_path / folder).mkdir()
    # All of this machine but its root folder; nobody else sees that, and it is gone afterwards.
    script = """
        mount -t tmpfs none root
        for folder in /*/; do
          mkdir "root$folder" && mount --rbind "$folder" "root$folder"
        done
        mkdir root/traces && mount --bind traces root/traces
        cp user libmy.so.1 root/
        exec chroot root "$1" -o /traces/of-%m --module=libmy -- /user"""
    result = run("unshare", "--mount", "--propagation=private", "sh", "-ec", script, "sh", recorder,
                 cwd=tmp_path, code=3)
    assert result.stderr == ""
    assert [trace.name for trace in (tmp_path / "traces").iterdir()] == ["of-user"]
    trace = decode(tmp_path / "traces/of-user", VALGRIND)
    assert [m.path for m in trace.modules.values()] == ["/user", "/libmy.so.1"]


def test_debug_info_that_valgrind_does_not_read(tmp_path, compile, llvm, run, record):
    """A program with debug info, which valgrind may not survive, runs without it."""
    program = compile("int my_data[8]; int main(void) { my_data[0] = 1; return 0; }")
    # Its line table is said to be at 0x70000000.
    for name, contents in (("abbrev", "0111001017000000"), ("line", "00000000"),
                           ("info", "0c000000040000000000080100000070")):
        (tmp_path / name).write_bytes(bytes.fromhex(contents))
        run(llvm / "llvm-objcopy", f"--add-section=.debug_{name}={tmp_path / name}", program)
    recording = record("--", program)
    assert (recording.status, recording.stderr) == (0, "")
    assert Binary(program).touches(recording.trace) == ["main", "my_data+0"]
