"""Shared libraries, and programs with debug info."""

import os
import shutil

import pytest
from recorded import Binary
from trace_decoder import VALGRIND, decode

LIBRARY = """
    __attribute__((aligned(16))) int my_table[16] = {1};
    __attribute__((aligned(16))) int my_data[16] = {1};
    int my_function(void) { return my_table[4]; }
    """
USER = """
    extern int my_data[16];
    int my_function(void);
    int main(void) { return my_function() + ((volatile int *)my_data)[8]; }
    """


@pytest.fixture
def library(compile):
    return compile(LIBRARY, "-shared", "-fPIC", "-Wl,-soname,libmy.so.1", name="libmy.so")


@pytest.mark.parametrize("name", ["libmy", "libmy.so", "libmy.so.1", "path"])
def test_library(name, library, compile, record):
    """--module records a library that the program needs, by file name, soname or path, in the
    program's trace: its code, and its data whoever touches it."""
    library.rename(library.with_name("libmy.so.1"))
    library = library.with_name("libmy.so.1")
    program = compile(USER, library, f"-Wl,-rpath,{library.parent}", "-fPIC", name="user")
    recording = record(f"--module={library if name == 'path' else name}", "--", program)
    assert (recording.status, recording.stderr) == (0, "")
    assert Binary(library).touches(recording.trace) == ["my_function", "my_table+16", "my_data+32"]
    assert {m.path: m.build_id for m in recording.trace.modules.values()} == {
        str(p): Binary(p).build_id for p in (program, library)}


def test_library_that_is_not_asked_for(library, compile, record):
    """Without --module only the program is recorded."""
    program = compile(USER, library.rename(library.with_name("libmy.so.1")),
                      f"-Wl,-rpath,{library.parent}", name="user")
    assert [m.path for m in record("--", program).trace.modules.values()] == [str(program)]


def test_opened_library(library, compile, record):
    """A library is recorded that is opened while the program runs, and one that is opened again at
    another address is still the same module."""
    program = compile("""
        #include <dlfcn.h>
        #include <sys/mman.h>
        int main(int argc, char **argv) {
          (void)argc;
          for (int i = 0; i < 2; ++i) {
            void *library = dlopen(argv[1], RTLD_NOW);
            ((int (*)(void))dlsym(library, "my_function"))();
            volatile int *data = dlsym(library, "my_data");
            data[4 * i] = 1;
            dlclose(library);
            mmap((void *)((long)data & -4096L), 4096, PROT_READ,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
          }
          return 0;
        }""", "-ldl", name="opener")
    recording = record("--module=libmy", "--", program, library)
    assert (recording.status, recording.stderr) == (0, "")
    assert Binary(library).touches(recording.trace) == ["my_function", "my_table+16", "my_data+0",
                                                       "my_data+16"]


OPENER = """
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <link.h>
    #include <stdlib.h>
    #include <sys/mman.h>
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
def test_reloaded_library(identity, compile, record, tmp_path):
    """A library that is closed and opened at another address is the same module, by its build-id
    or, without one, by its name: what was touched is not touched again, what was not is recorded. A
    copy of it is the same module by its build-id only."""
    without = ["-Wl,--build-id=none"] if identity == "name" else []
    library = compile(LIBRARY, "-shared", "-fPIC", *without, name="libmy.so")
    copy = shutil.copy(library, tmp_path / "libcopy.so")
    program = compile(OPENER + """
        int main(int argc, char **argv) {
          (void)argc;
          void *place = NULL;
          for (int i = 0; i < 3; ++i) {
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
        assert Binary(copy).touches(recording.trace) == ["my_function", "my_table+16",
                                                         "my_data+32"]


def test_another_library_in_the_same_place(compile, record):
    """A library that is opened where another one was is recorded as itself, and so is the first one
    when it comes back: what was touched of it is not touched again."""
    libraries = [compile(f"int my_own_{name}(void) {{ return 0; }}" + LIBRARY, "-shared", "-fPIC",
                         name=f"lib{name}.so") for name in ("one", "two")]
    program = compile(OPENER + """
        int main(int argc, char **argv) {
          (void)argc;
          void *library = dlopen(argv[1], RTLD_NOW);
          void *place = use(library, 0);
          dlclose(library);
          library = dlopen(argv[2], RTLD_NOW);
          if (use(library, 1) != place)
            return 77;
          dlclose(library);
          library = dlopen(argv[1], RTLD_NOW);
          ((int (*)(void))dlsym(library, "my_own_one"))();
          return use(library, 2) != place ? 77 : 0;
        }""", "-ldl", name="opener")
    recording = record("--module=libone", "--module=libtwo", "--", program, *libraries)
    if recording.status == 77:
        pytest.skip("the dynamic linker chose another place")
    assert (recording.status, recording.stderr) == (0, "")
    one, two = libraries
    assert [m.path for m in recording.trace.modules.values()] == [str(program), str(one), str(two)]
    assert Binary(one).touches(recording.trace) == [
        "my_function", "my_table+16", "my_data+0", "my_own_one", "my_data+32"]
    assert Binary(two).touches(recording.trace) == ["my_function", "my_table+16", "my_data+16"]


def test_only_a_copy_is_asked_for(compile, record, tmp_path):
    """A copy is recorded under its own name where nobody has asked for the other one."""
    library = compile(LIBRARY, "-shared", "-fPIC", name="libmy.so")
    copy = shutil.copy(library, tmp_path / "libcopy.so")
    program = compile(OPENER + """
        int main(int argc, char **argv) {
          (void)argc;
          use(dlopen(argv[1], RTLD_NOW), 0);
          use(dlopen(argv[2], RTLD_NOW), 1);
          return 0;
        }""", "-ldl", name="opener")
    recording = record("--module=libcopy", "--", program, library, copy)
    assert (recording.status, recording.stderr) == (0, "")
    assert Binary(copy).touches(recording.trace) == ["my_function", "my_table+16", "my_data+16"]


def test_library_that_is_loaded_twice(library, compile, record):
    """Two instances of a library at the same time are one module, in which a granule counts once;
    so they are in a child, and when one of them is opened again."""
    program = compile(OPENER + """
        #include <sys/wait.h>
        #include <unistd.h>
        int main(int argc, char **argv) {
          (void)argc;
          void *first = dlopen(argv[1], RTLD_NOW);
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
    assert [Binary(library).touches(trace) for trace in recording.traces] == [
        ["my_function", "my_table+16", "my_data+0", "my_data+16"],
        ["my_function", "my_table+16", "my_data+32", "my_data+48"]]


@pytest.mark.parametrize("kind", ["not there", "a pipe"])
def test_unseen_module_is_a_warning(kind, compile, record, tmp_path):
    """A --module that was never loaded is said; the program's status stays."""
    name = "libnone" if kind == "not there" else tmp_path / "pipe"
    os.mkfifo(tmp_path / "pipe")
    recording = record(f"--module={name}", "--", compile("int main(void) { return 3; }"))
    assert recording.status == 3
    assert recording.stderr == (f"frontload-valgrind: warning: --module={name}: the program did "
                                "not load it\n")


@pytest.mark.parametrize("who", ["the program", "what executes it"])
def test_a_path_from_the_first_folder(who, library, compile, record, tmp_path):
    """A path leads from where the recorder was started, wherever the program has gone since."""
    program = compile("""
        #include <dlfcn.h>
        #include <unistd.h>
        int main(int argc, char **argv) {
          if (argc > 2 && chdir(argv[2]))
            return 1;
          return ((int (*)(void))dlsym(dlopen(argv[1], RTLD_NOW), "my_function"))();
        }""", "-ldl", name="opener")
    command = {"the program": [program, library, "/"],
               "what executes it": ["sh", "-c", 'cd / && exec "$0" "$1"', program, library]}[who]
    recording = record("--module=./libmy.so", "--", *command, cwd=tmp_path)
    assert (recording.status, recording.stderr) == (0, "")
    (trace,) = recording.of(program)
    assert Binary(library).touches(trace) == ["my_function", "my_table+16"]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to make another root folder")
def test_files_in_the_root_folder(library, compile, recorder, run, tmp_path):
    """Programs and libraries that lie directly in the root folder, as in many containers, have
    names as those in any other."""
    program, root = compile(USER, library, "-Wl,-rpath,/", name="user"), tmp_path / "root"
    traces = tmp_path / "traces"
    traces.mkdir()
    shutil.copy(library, library.with_name("libmy.so.1"))
    # All of this machine but its root folder; nobody else sees that, and it is gone afterwards.
    script = """
        mount -t tmpfs none "$1" || exit 77
        for folder in /*/; do
          mkdir "$1$folder" && mount --rbind "$folder" "$1$folder" || exit 77
        done
        mkdir "$1/traces" && mount --bind "$2" "$1/traces" || exit 77
        cp "$3" "$4" "$1/" || exit 77
        exec chroot "$1" "$5" -o /traces/of-%m --module=libmy -- /user"""
    root.mkdir()
    result = run("unshare", "--mount", "--propagation=private", "sh", "-c", script, "sh", root,
                 traces, program, library.with_name("libmy.so.1"), recorder, code=None)
    if result.returncode == 77:
        pytest.skip("file systems cannot be mounted here")
    assert (result.returncode, result.stderr) == (0, "")
    assert [trace.name for trace in traces.iterdir()] == ["of-user"]
    trace = decode(traces / "of-user", VALGRIND)
    assert [m.path for m in trace.modules.values()] == ["/user", "/libmy.so.1"]


def test_many_modules(library, compile, record):
    """However many are asked for, each is recorded, or said not to have been loaded."""
    program = compile(USER, library.rename(library.with_name("libmy.so.1")),
                      f"-Wl,-rpath,{library.parent}", "-fPIC", name="user")
    others = [f"libnone{number}" for number in range(300)]
    recording = record(*[f"--module={other}" for other in others], "--module=libmy", "--", program)
    assert recording.status == 0
    assert recording.stderr.splitlines() == [
        f"frontload-valgrind: warning: --module={other}: the program did not load it"
        for other in others]
    assert Binary(library.with_name("libmy.so.1")).touches(recording.trace) == [
        "my_function", "my_table+16", "my_data+32"]


@pytest.mark.parametrize("kind", ["DWARF 5", "unreadable"])
def test_debug_info(kind, tmp_path, compile, llvm, run, record):
    """A program with debug info, which valgrind may not survive, runs without it; the trace names
    the program itself."""
    program = compile("int my_data[8]; int main(void) { my_data[0] = 1; return 0; }",
                      *(["-g", "-gdwarf-5"] if kind == "DWARF 5" else []), cc=llvm / "clang")
    if kind == "unreadable":  # its line table is said to be at 0x70000000
        for name, contents in (("abbrev", "0111001017000000"), ("line", "00000000"),
                               ("info", "0c000000040000000000080100000070")):
            (tmp_path / name).write_bytes(bytes.fromhex(contents))
            run(llvm / "llvm-objcopy", f"--add-section=.debug_{name}={tmp_path / name}", program)
    before = program.read_bytes()
    recording = record("--", program)
    assert (recording.status, recording.stderr) == (0, "")
    assert Binary(program).touches(recording.trace) == ["main", "my_data+0"]
    assert recording.trace.main.path == str(program)
    assert recording.trace.main.build_id == Binary(program).build_id
    assert program.read_bytes() == before


def test_surroundings_of_a_program_with_debug_info(tmp_path, compile, record):
    """Without its debug info a program still has its name, and finds its libraries and files by
    where it is, also when it is called by another name."""
    (tmp_path / "lib").mkdir()
    library = compile(LIBRARY, "-shared", "-fPIC", name="lib/libmy.so")
    (tmp_path / "lib" / "file").write_text("contents")
    program = compile("""
        #include <stdio.h>
        #include <string.h>
        #include <unistd.h>
        int my_function(void);
        int main(int argc, char **argv) {
          char path[4096] = {0}, line[64] = {0};
          (void)argc;
          if (readlink("/proc/self/exe", path, sizeof path - 20) < 0)
            return 1;
          strcpy(strrchr(path, '/'), "/../lib/file");
          FILE *file = fopen(path, "r");
          if (!file || !fgets(line, sizeof line, file))
            return 2;
          printf("%s %s %s\\n", strrchr(argv[0], '/') + 1, line, argv[1]);
          return my_function();
        }""", library, "-g", "-Wl,-rpath,$ORIGIN/../lib", name="bin/user")
    (tmp_path / "elsewhere").mkdir()
    called = tmp_path / "elsewhere" / "other-name"
    called.symlink_to(program)
    recording = record("--", called, "@argument")
    assert (recording.status, recording.stderr) == (0, "")
    assert recording.stdout == "other-name contents @argument\n"
    assert recording.trace.main.path == str(program)
